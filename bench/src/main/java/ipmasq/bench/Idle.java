package ipmasq.bench;

import ipmasq.testkit.Namespace;
import java.util.ArrayList;
import java.util.List;

/** What an agent costs while nothing happens: CPU time, children, memory. */
final class Idle implements Section {
  /** What an agent does after its start is over by then. */
  private static final int SETTLE_SECONDS = 12;

  private static final Contender LISTENS =
      Contender.IPTABLES.with("ours, iptables, with `--listen`", "--listen=127.0.0.1:0");

  /** One agent being watched. */
  private static final class Lane implements AutoCloseable {
    private final Namespace node = Namespace.open("node");
    private final Watched agent;
    private double cpuMillis;
    private int children;
    private double rss;
    private double anonymous;

    Lane(Contender contender, boolean counted) {
      agent = new Watched(contender, node, counted);
    }

    void begin() {
      cpuMillis = agent.cpuMillis();
      children = agent.children();
    }

    void end() {
      cpuMillis = agent.cpuMillis() - cpuMillis;
      children = agent.children() - children;
      rss = Memory.rss(agent.pid());
      anonymous = Memory.anonymous(agent.pid());
    }

    String[] row() {
      return new String[] {
        agent.contender().name(),
        Unit.MILLISECONDS.text(cpuMillis),
        Integer.toString(children),
        Unit.MEGABYTES.text(rss),
        Unit.MEGABYTES.text(anonymous)
      };
    }

    @Override
    public void close() {
      agent.close();
      node.close();
    }
  }

  private final Scale scale;
  private final List<Contender> contenders = new ArrayList<>();
  private final boolean peer;
  private final List<Lane> lanes = new ArrayList<>();

  Idle(List<Contender> agents, Scale scale) {
    this.scale = scale;
    peer = agents.stream().anyMatch(Contender::fixedPath);
    agents.stream().filter(agent -> scale.full() || !agent.fixedPath()).forEach(contenders::add);
    contenders.add(Contender.IPTABLES.with("ours, iptables, with IPv6", "--enable-ipv6"));
    contenders.add(LISTENS);
  }

  @Override
  public void measure() {
    Progress.say("idle for " + scale.idleSeconds() + " s");
    try {
      for (Contender contender : contenders) {
        lanes.add(new Lane(contender, true));
        if (contender.fixedPath()) {
          lanes.add(new Lane(contender, false));
        }
      }
      lanes.forEach(lane -> lane.agent.awaitRules());
      Pause.seconds(SETTLE_SECONDS);
      lanes.forEach(Lane::begin);
      Pause.seconds(scale.idleSeconds());
      lanes.forEach(Lane::end);
    } finally {
      lanes.forEach(Lane::close);
    }
  }

  @Override
  public void write(Report report) {
    for (Lane lane : lanes) {
      if (lane.agent.contender().equals(Contender.IPTABLES)) {
        report.measured(Promise.IDLE_CPU, lane.cpuMillis * 60 / scale.idleSeconds());
        report.measured(Promise.IDLE_CHILDREN, lane.children);
      } else if (lane.agent.contender().equals(LISTENS)) {
        report.measured(Promise.IDLE_RSS, lane.rss);
        report.measured(Promise.IDLE_ANONYMOUS, lane.anonymous);
      }
    }
    if (peer && !scale.full()) {
      report.gap("the idle peer, which acts once a minute: the full form watches it");
    }
    report.section(
        "While nothing happens",
        """
        At default settings, for %d s that begin %d s after the start. CPU time includes children. A peer is watched twice, \
        with scripts that count its children and without. RSS includes pages of files, which the kernel takes back when it \
        needs them; anonymous memory it cannot.
        """
            .formatted(scale.idleSeconds(), SETTLE_SECONDS));
    List<String[]> rows = new ArrayList<>();
    rows.add(new String[] {"", "CPU", "children", "RSS", "anonymous"});
    lanes.forEach(lane -> rows.add(lane.row()));
    report.table(rows);
    report.text(
        """
        Measured earlier on a similar machine: the Go agent spends about 10 ms and 3 child processes per minute, and has an \
        RSS of 14 MB, of which 2.5 MB are anonymous.
        """);
  }
}
