package ipmasq.bench;

import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.ConfigVolume;
import ipmasq.testkit.Namespace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What is left of many ranges, in the agent's memory, once they are gone. */
final class ComeAndGo implements Section {
  private static final int SMALL = 3;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final int many;
  private final int settleSeconds;
  private final Samples ratios = new Samples();
  private final List<String[]> rows = new ArrayList<>();
  private final Scale scale;

  ComeAndGo(Scale scale) {
    this.scale = scale;
    boolean full = scale.equals(Scale.FULL);
    many = full ? 100_000 : 10_000;
    settleSeconds = full ? 10 : 3;
  }

  @Override
  public void measure() {
    Progress.say(Unit.grouped(many) + " ranges come and go");
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
        sleep();
        Memory before = Memory.of(agent.pid());
        double loading = change(kernel, volume, cgroup, many);
        Memory meanwhile = Memory.of(agent.pid());
        double oneMore = change(kernel, volume, cgroup, many + 1);
        change(kernel, volume, cgroup, SMALL);
        Memory after = Memory.of(agent.pid());
        ratios.add(after.rss() / before.rss());
        rows.add(
            new String[] {
              Unit.MEGABYTES.text(before.rss()),
              Unit.MEGABYTES.text(meanwhile.rss()),
              Unit.MEGABYTES.text(after.rss()),
              Unit.RATIO.text(after.rss() / before.rss()),
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
    sleep();
    return cgroup.cpuMillis() - before;
  }

  private void sleep() {
    try {
      TimeUnit.SECONDS.sleep(settleSeconds);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void write(Report report) {
    String what = Unit.grouped(many) + " ranges loaded and removed again";
    report.goal("RSS after " + what + ", against before", 1.2, ratios.median(), Unit.RATIO);
    report.section(
        "When many ranges came and went",
        """
        A running agent (nftables) whose config has three ranges, then %s, then one more, then three again; RSS %d s after \
        each. CPU time is that of the agent in those seconds: reading the file, writing the rules, and looking at them \
        once more.
        """
            .formatted(Unit.grouped(many), settleSeconds));
    rows.addFirst(
        new String[] {
          "before", "with all", "after", "after ÷ before", "CPU for all", "CPU for one more"
        });
    report.table(rows);
  }
}
