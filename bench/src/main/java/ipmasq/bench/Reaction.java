package ipmasq.bench;

import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.ConfigVolume;
import ipmasq.testkit.Namespace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * How long agents take: from exec, from a change of the config, from a flushed chain.
 *
 * <p>A peer that acts once a minute is waited for on threads of its own, while the rest is
 * measured.
 */
final class Reaction implements Section {
  private static final Duration PATIENCE = Duration.ofSeconds(75);
  private static final int FEW = 3;
  private static final int MORE = 4;
  private static final int AT_ONCE = 3; // repairs that ours makes before it suspects a fight

  /** Ours beats faster than that: a change is not in step with it. */
  private static final int BEAT_MILLIS = 1_000;

  /** A peer's minute, but for its end: a change comes anywhere in it. */
  private static final int MINUTE_MILLIS = 50_000;

  private final List<Contender> contenders;
  private final Scale scale;
  private final Random random = new Random(4);
  private final Map<Contender, Samples> start = new LinkedHashMap<>();
  private final Map<Contender, Samples> change = new LinkedHashMap<>();
  private final Map<Contender, Samples> heal = new LinkedHashMap<>();
  private final List<Thread> waits = new ArrayList<>();
  private final List<String> failures = Collections.synchronizedList(new ArrayList<>());

  Reaction(List<Contender> contenders, Scale scale) {
    this.contenders = contenders;
    this.scale = scale;
    for (Contender contender : contenders) {
      start.put(contender, new Samples());
      change.put(contender, new Samples());
      heal.put(contender, new Samples());
    }
  }

  @Override
  public void measure() {
    for (Contender contender : contenders) {
      if (contender.fixedPath()) {
        inBackground("config", () -> changes(contender, scale.waits(), MINUTE_MILLIS));
        inBackground("flush", () -> heals(contender, scale.waits(), MINUTE_MILLIS));
      }
    }
    Progress.say("exec to rules");
    for (int i = 0; i < scale.repetitions(); i++) {
      List<Contender> turns = new ArrayList<>(contenders);
      Collections.shuffle(turns, random);
      turns.forEach(this::start);
    }
    Progress.say("config to rules");
    for (Contender contender : contenders) {
      if (!contender.fixedPath()) {
        changes(contender, scale.repetitions(), BEAT_MILLIS);
      }
    }
    Progress.say("flush to healed");
    heals(Contender.IPTABLES, scale.repetitions(), BEAT_MILLIS);
  }

  private void inBackground(String what, Runnable wait) {
    Runnable guarded =
        () -> {
          try {
            wait.run();
          } catch (RuntimeException | AssertionError e) {
            failures.add("the peer, " + what + ": " + e.getMessage());
          }
        };
    waits.add(Thread.ofPlatform().daemon().name("peer " + what).start(guarded));
  }

  private void start(Contender contender) {
    try (Namespace node = Namespace.open("node");
        KernelView kernel = new KernelView(node);
        ConfigVolume volume = new ConfigVolume()) {
      long since = System.nanoTime();
      // No file: the defaults, which are three ranges.
      try (AgentProcess agent = contender.start(node, volume)) {
        start.get(contender).add(kernel.await(since, contender.kind(), FEW, PATIENCE));
        agent.kill();
      }
    }
  }

  private void changes(Contender contender, int times, int pauseMillis) {
    try (Namespace node = Namespace.open("node");
        KernelView kernel = new KernelView(node);
        ConfigVolume volume = new ConfigVolume()) {
      volume.publish(config(FEW));
      try (AgentProcess _ = contender.start(node, volume)) {
        kernel.await(System.nanoTime(), contender.kind(), FEW, PATIENCE);
        for (int i = 0; i < times; i++) {
          pauseUpTo(pauseMillis);
          int ranges = i % 2 == 0 ? MORE : FEW;
          long since = System.nanoTime();
          volume.publish(config(ranges));
          change.get(contender).add(kernel.await(since, contender.kind(), ranges, PATIENCE));
        }
      }
    }
  }

  private static String config(int ranges) {
    StringBuilder text = new StringBuilder("nonMasqueradeCIDRs:\n");
    for (int i = 0; i < ranges; i++) {
      text.append("- 10.").append(i).append(".0.0/16\n");
    }
    return text.toString();
  }

  private void heals(Contender contender, int times, int pauseMillis) {
    for (int left = times; left > 0; left -= AT_ONCE) {
      try (Namespace node = Namespace.open("node");
          KernelView kernel = new KernelView(node);
          ConfigVolume volume = new ConfigVolume();
          AgentProcess _ = contender.start(node, volume)) {
        kernel.await(System.nanoTime(), contender.kind(), FEW, PATIENCE);
        for (int i = 0; i < Math.min(left, AT_ONCE); i++) {
          pauseUpTo(pauseMillis);
          heal.get(contender).add(flushed(kernel));
        }
      }
    }
  }

  /** Milliseconds until a chain with the defaults that was flushed is whole again. */
  static double flushed(KernelView kernel) {
    long since = System.nanoTime();
    kernel.flush();
    return kernel.await(since, Contender.Kind.IPTABLES, FEW, PATIENCE);
  }

  /** A second at least: the agent looks at its own changes once more before it rests. */
  private void pauseUpTo(int millis) {
    Pause.millis(1_000 + random.nextInt(millis));
  }

  private void awaitPeer() {
    if (waits.stream().anyMatch(Thread::isAlive)) {
      Progress.say("waiting for the peer's own interval, a minute at most for each of the waits");
    }
    for (Thread wait : waits) {
      try {
        wait.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
  }

  @Override
  public void write(Report report) {
    awaitPeer();
    failures.forEach(report::gap);
    report.measured(Promise.START, start.get(Contender.IPTABLES).median());
    report.measured(Promise.CONFIG_IPTABLES, change.get(Contender.IPTABLES).median());
    report.measured(Promise.CONFIG_NFTABLES, change.get(Contender.NFTABLES).median());
    report.measured(Promise.HEAL, heal.get(Contender.IPTABLES).max());
    report.section(
        "How soon",
        """
        Wall clock, default settings: median (least … most). The config is a ConfigMap volume. Configs are changed and \
        chains are flushed at random moments.
        """);
    List<String[]> rows = new ArrayList<>();
    rows.add(new String[] {"", "exec → rules", "config → rules", "flushed → healed"});
    for (Contender contender : contenders) {
      rows.add(
          new String[] {
            contender.name(),
            spread(start.get(contender)),
            spread(change.get(contender)),
            spread(heal.get(contender))
          });
    }
    report.table(rows);
    report.text(
        """
        With nftables nothing can be flushed: the agent owns its table. Measured earlier on a similar machine: the Go agent \
        takes 21 ms from exec to rules; a changed config or a flushed chain waits up to 60 s.
        """);
  }

  private static String spread(@Nullable Samples samples) {
    return samples == null || samples.isEmpty()
        ? "–"
        : samples.spread(samples.median(), Unit.MILLISECONDS);
  }
}
