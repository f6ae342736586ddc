package ipmasq.bench;

import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.ConfigVolume;
import ipmasq.testkit.FakePrograms;
import ipmasq.testkit.Namespace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** What an agent costs while nothing happens: CPU time, children, memory. */
final class Idle implements Section {
  private static final int MINUTES = 3;

  /** How often a minute the commands of a polling agent are run beside. */
  private static final int SYNCS = 6;

  private static final int DEFAULTS = 3;
  private static final String AGAINST = ", against the commands of the Go agent's one sync";

  /** One agent being watched. */
  private static final class Lane implements AutoCloseable {
    private final Contender contender;
    private final Namespace node = Namespace.open("node");
    private final ConfigVolume volume = new ConfigVolume();
    private final Cgroup cgroup = new Cgroup();
    private final FakePrograms programs = new FakePrograms();
    private final Path copy;
    private final AgentProcess agent;
    private final Samples cpuMillis = new Samples();
    private double before;
    private int ranBefore;
    private Map<String, Double> threadsBefore = Map.of();
    private Map<String, Double> threads = Map.of();
    private int ran;
    private Memory memory = new Memory(0, 0, 0);
    private String memoryParts = "";

    /**
     * @param counted whether its programs are wrapped in scripts that count them, which costs CPU
     *     time where there are any
     */
    Lane(Contender contender, boolean counted) {
      this.contender = contender;
      // From a folder of its own, so that it shares no page with the agents beside it.
      copy = contender.fixedPath() ? volume.directory() : copied();
      Contender here =
          contender.fixedPath() ? contender : contender.as(copy.resolve("bin/ip-masq-agent"));
      agent = here.start(node, volume, counted ? Map.of("PATH", path()) : Map.of());
      cgroup.add(agent.pid());
    }

    private String path() {
      return programs.path() + (contender.fixedPath() ? ":/usr/bin:/bin" : "");
    }

    void begin() {
      before = cgroup.cpuMillis();
      ranBefore = programs.invocations().size();
      threadsBefore = Threads.cpuMillis(agent.pid());
    }

    void minute() {
      double now = cgroup.cpuMillis();
      cpuMillis.add(now - before);
      before = now;
      if (cpuMillis.count() == 1) {
        memory = Memory.of(agent.pid());
        memoryParts = Memory.parts(agent.pid());
      }
    }

    void end() {
      ran = programs.invocations().size() - ranBefore;
      threads = Threads.cpuMillis(agent.pid());
    }

    @Override
    public void close() {
      agent.close();
      cgroup.close();
      programs.close();
      volume.close();
      node.close();
      if (!contender.fixedPath()) {
        delete(copy);
      }
    }
  }

  private final Scale scale;
  private final List<Contender> contenders = new ArrayList<>();
  private final boolean listens;
  private final List<String[]> rows = new ArrayList<>();
  private final List<Goal> goals = new ArrayList<>();
  private String parts = "";
  private String memoryParts = "";
  private Samples pollsV4 = new Samples();
  private Samples pollsBoth = new Samples();

  Idle(List<Contender> agents, Scale scale) {
    this.scale = scale;
    listens = Machine.output(AgentProcess.builtAgent().toString(), "--help").contains("listen");
    for (Contender agent : agents) {
      contenders.add(agent);
      contenders.add(agent.with(agent.name() + ", with IPv6", "--enable-ipv6"));
    }
    if (listens) {
      contenders.add(
          Contender.IPTABLES.with("ours, iptables, with --listen", "--listen=127.0.0.1:0"));
    }
  }

  @Override
  public void measure() {
    Progress.say("idle for " + MINUTES + " times " + scale.idleSeconds() + " s");
    List<Lane> lanes = new ArrayList<>();
    try {
      for (Contender contender : contenders) {
        lanes.add(new Lane(contender, true));
        if (contender.fixedPath()) {
          lanes.add(new Lane(contender, false));
        }
      }
      for (Lane lane : lanes) {
        try (KernelView kernel = new KernelView(lane.node)) {
          kernel.await(System.nanoTime(), lane.contender.kind(), DEFAULTS, Duration.ofSeconds(30));
        }
      }
      sleep(scale.idleSeconds() / SYNCS); // until all is quiet
      try (Polling polling = new Polling()) {
        lanes.forEach(Lane::begin);
        for (int i = 0; i < MINUTES; i++) {
          for (int k = 0; k < SYNCS; k++) {
            sleep(scale.idleSeconds() / SYNCS);
            polling.sync();
          }
          lanes.forEach(Lane::minute);
        }
        lanes.forEach(Lane::end);
        pollsV4 = polling.v4();
        pollsBoth = polling.both();
      }
      lanes.forEach(this::keep);
    } finally {
      lanes.forEach(Lane::close);
    }
  }

  private void keep(Lane lane) {
    rows.add(
        new String[] {
          lane.contender.name(),
          lane.cpuMillis.spread(lane.cpuMillis.mean(), Unit.MILLISECONDS),
          Integer.toString(lane.ran),
          Unit.MEGABYTES.text(lane.memory.rss()),
          Unit.MEGABYTES.text(lane.memory.pss()),
          Unit.MEGABYTES.text(lane.memory.anonymous())
        });
    String name = lane.contender.name();
    switch (name) {
      case "ours, iptables" -> {
        parts = Threads.words(lane.threadsBefore, lane.threads);
        memoryParts = lane.memoryParts;
        goal("Idle: CPU in 60 s, v4" + AGAINST, pollsV4, lane);
        goals.add(new Goal("Idle: child processes in 60 s", 0, lane.ran, Unit.COUNT));
        goals.add(new Goal("Idle: RSS after a minute", 45, lane.memory.rss(), Unit.MEGABYTES));
      }
      case "ours, iptables, with IPv6" ->
          goal("Idle: CPU in 60 s, v4 and v6" + AGAINST, pollsBoth, lane);
      case "ours, iptables, with --listen" ->
          goals.add(
              new Goal(
                  "Idle: RSS after a minute, with --listen",
                  45,
                  lane.memory.rss(),
                  Unit.MEGABYTES));
      default -> {}
    }
  }

  private void goal(String what, Samples polls, Lane lane) {
    double millis = lane.cpuMillis.mean() * 60 / scale.idleSeconds();
    goals.add(new Goal(what, polls.mean(), millis, Unit.MILLISECONDS));
  }

  @Override
  public void write(Report report) {
    goals.forEach(report::goal);
    if (!listens) {
      report.gap("memory with `--listen`: this build has no such flag");
    }
    report.section(
        "While nothing happens",
        """
        At default settings, %d times %d s that begin some seconds after the start. CPU time is that of a control group, the \
        agent with all its threads, and its children: the mean of these times, and in brackets the least and the most. \
        Children are counted by scripts in the place of iptables; a peer, which has some, is watched twice, and the second \
        row has its CPU time without those scripts. Memory is that after the first of the times; each agent runs from a \
        folder of its own, so that PSS is not made smaller by others like it.
        """
            .formatted(MINUTES, scale.idleSeconds()));
    List<String[]> table = new ArrayList<>();
    table.add(new String[] {"", "CPU", "children", "RSS", "PSS", "anonymous"});
    table.addAll(rows);
    report.table(table);
    report.text(
        "What the CPU time of \"ours, iptables\" consists of, all of it, by thread: "
            + parts
            + ".");
    report.text("And its RSS, by what is in the pages: " + memoryParts + ".");
    report.text(
        """
        What the Go agent runs for its one sync a minute, the agent itself not counted, took %s (%s with IPv6); the promise is to \
        take no more than that agent. It was run every %d s in the same minutes, and means are compared: a shared host is \
        slow for some seconds in a minute, and an agent that syncs once a minute meets them as much on average as one that looks \
        all the time. After a minute in which nobody ran iptables, these commands take a third more.
        """
            .formatted(
                pollsV4.spread(pollsV4.mean(), Unit.MILLISECONDS),
                pollsBoth.spread(pollsBoth.mean(), Unit.MILLISECONDS),
                scale.idleSeconds() / SYNCS));
    report.text(
        """
        Measured earlier on a like machine, not in this run: the Go agent spends 9.8 ms and 3 child processes on its one \
        sync a minute (19.1 ms and 6 with IPv6), and has an RSS of 12.0 MB.
        """);
  }

  private static Path copied() {
    Path built = Java.home();
    try {
      Path to = Files.createTempDirectory("ipmq-agent-").resolve("ip-masq-agent");
      // Times included: the agent's cache knows when its modules were written.
      Process copy = new ProcessBuilder("cp", "-a", built.toString(), to.toString()).start();
      if (copy.waitFor() != 0) {
        throw new IllegalStateException("cannot copy " + built);
      }
      return to;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder.getParent())) {
      for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void sleep(int seconds) {
    try {
      TimeUnit.SECONDS.sleep(seconds);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
