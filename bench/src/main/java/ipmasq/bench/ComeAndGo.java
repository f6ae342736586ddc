package ipmasq.bench;

import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.ConfigVolume;
import ipmasq.testkit.Namespace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What is left of many ranges, in the agent's memory, once they are gone. */
final class ComeAndGo implements Section {
  private static final int SMALL = 3;
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  private final Scale scale;
  private final int settleSeconds;
  private final List<String[]> rows = new ArrayList<>();

  ComeAndGo(Scale scale) {
    this.scale = scale;
    settleSeconds = scale.full() ? 10 : 3;
  }

  @Override
  public void measure() {
    Progress.say(Unit.grouped(scale.comeAndGo()) + " ranges come and go");
    for (int i = 0; i < Math.min(2, scale.few()); i++) {
      once();
    }
  }

  private void once() {
    try (Namespace node = Namespace.open("node");
        KernelView kernel = new KernelView(node);
        ConfigVolume volume = new ConfigVolume();
        Cgroup cgroup = new Cgroup()) {
      volume.publish(new Ranges(SMALL).config());
      try (AgentProcess agent = Contender.NFTABLES.start(node, volume)) {
        cgroup.add(agent.pid());
        kernel.await(System.nanoTime(), Contender.Kind.NFTABLES, SMALL, PATIENCE);
        Pause.seconds(settleSeconds);
        double before = Memory.rss(agent.pid());
        double loading = change(kernel, volume, cgroup, scale.comeAndGo());
        double meanwhile = Memory.rss(agent.pid());
        double oneMore = change(kernel, volume, cgroup, scale.comeAndGo() + 1);
        change(kernel, volume, cgroup, SMALL);
        double after = Memory.rss(agent.pid());
        rows.add(
            new String[] {
              Unit.MEGABYTES.text(before),
              Unit.MEGABYTES.text(meanwhile),
              Unit.MEGABYTES.text(after),
              Unit.RATIO.text(after / before),
              Unit.MILLISECONDS.text(loading),
              Unit.MILLISECONDS.text(oneMore)
            });
      }
    }
  }

  /** Returns the CPU time that the agent spent on it, the looks that follow included. */
  private double change(KernelView kernel, ConfigVolume volume, Cgroup cgroup, int ranges) {
    double before = cgroup.cpuMillis();
    volume.publish(new Ranges(ranges).config());
    kernel.await(System.nanoTime(), Contender.Kind.NFTABLES, ranges, PATIENCE);
    Pause.seconds(settleSeconds);
    return cgroup.cpuMillis() - before;
  }

  @Override
  public void write(Report report) {
    report.section(
        "When many ranges came and went",
        """
        A running agent (nftables) whose config has three ranges, then %s, then one more, then three again; RSS %d s after \
        each, and the agent's CPU time in those seconds.
        """
            .formatted(Unit.grouped(scale.comeAndGo()), settleSeconds));
    rows.addFirst(
        new String[] {
          "before", "with all", "after", "after ÷ before", "CPU for all", "CPU for one more"
        });
    report.table(rows);
  }
}
