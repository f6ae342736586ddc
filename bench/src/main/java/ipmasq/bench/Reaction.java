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
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** How long agents take: from exec, from a change of the config, from a flushed chain. */
final class Reaction implements Section {
  private static final Duration PATIENCE = Duration.ofSeconds(75);
  private static final Duration QUIET = Duration.ofSeconds(12);
  private static final int QUIET_BEAT_MILLIS = 900;
  private static final int FEW = 3;
  private static final int MORE = 4;
  private static final int AT_ONCE = 3; // repairs that ours makes before it suspects a fight

  private final List<Contender> contenders;
  private final Scale scale;
  private final Random random = new Random(4);
  private final Map<Contender, Samples> start = new LinkedHashMap<>();
  private final Samples java = new Samples();
  private final Samples programs = new Samples();
  private final Map<Contender, Samples> start6 = new LinkedHashMap<>();
  private final Map<Contender, Samples> change = new LinkedHashMap<>();
  private final Map<Contender, Samples> heal = new LinkedHashMap<>();
  private final Map<Contender, Samples> healQuiet = new LinkedHashMap<>();

  Reaction(List<Contender> contenders, Scale scale) {
    this.contenders = contenders;
    this.scale = scale;
  }

  @Override
  public void measure() {
    Progress.say("exec to rules");
    for (int i = 0; i < scale.repetitions(); i++) {
      for (Contender contender : shuffled()) {
        start(contender, start);
      }
      for (Contender contender : shuffled()) {
        start(contender.with(contender.name() + ", with IPv6", "--enable-ipv6"), start6);
      }
      partsOfAStart();
    }
    Progress.say("config to rules");
    shuffled().forEach(this::changes);
    Progress.say("flush to healed");
    for (Contender contender : contenders) {
      if (contender.kind() == Contender.Kind.IPTABLES) {
        heals(contender);
        healsInQuiet(contender);
      }
    }
  }

  private List<Contender> shuffled() {
    List<Contender> turns = new ArrayList<>(contenders);
    Collections.shuffle(turns, random);
    return turns;
  }

  private void start(Contender contender, Map<Contender, Samples> results) {
    try (Namespace node = Namespace.open("node");
        KernelView kernel = new KernelView(node);
        ConfigVolume volume = new ConfigVolume()) {
      long since = System.nanoTime();
      // No file: the defaults, which are three ranges.
      try (AgentProcess agent = contender.start(node, volume)) {
        double millis = kernel.await(since, contender.kind(), FEW, PATIENCE);
        results.computeIfAbsent(contender, _ -> new Samples()).add(millis);
        agent.kill();
      }
    }
  }

  /** What our start cannot be without: Java that starts and ends, and the programs of iptables. */
  private void partsOfAStart() {
    try (Namespace node = Namespace.open("node")) {
      String agent = AgentProcess.builtAgent().toString();
      java.add(Command.run(node, "", agent, "version").ok().millis());
      programs.add(
          Command.run(node, "", "iptables-save", "-t", "nat").ok().millis()
              + Layout.loadUpstream(node, new Ranges(FEW), "nft").ok().millis());
    }
  }

  /** A peer that polls takes half a minute each: a few times must do. */
  private int repetitions(Contender contender) {
    return contender.fixedPath() ? Math.min(FEW, scale.repetitions()) : scale.repetitions();
  }

  private void changes(Contender contender) {
    try (Namespace node = Namespace.open("node");
        KernelView kernel = new KernelView(node);
        ConfigVolume volume = new ConfigVolume()) {
      volume.publish(config(FEW));
      try (AgentProcess _ = contender.start(node, volume)) {
        kernel.await(System.nanoTime(), contender.kind(), FEW, PATIENCE);
        for (int i = 0; i < repetitions(contender); i++) {
          pauseUpTo(700); // whatever beats inside the agent, this is not in step with it
          int ranges = i % 2 == 0 ? MORE : FEW;
          long since = System.nanoTime();
          volume.publish(config(ranges));
          change
              .computeIfAbsent(contender, _ -> new Samples())
              .add(kernel.await(since, contender.kind(), ranges, PATIENCE));
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

  private void heals(Contender contender) {
    int left = repetitions(contender);
    while (left > 0) {
      int some = Math.min(left, AT_ONCE);
      left -= some;
      try (Namespace node = Namespace.open("node");
          KernelView kernel = new KernelView(node);
          ConfigVolume volume = new ConfigVolume();
          AgentProcess _ = contender.start(node, volume)) {
        kernel.await(System.nanoTime(), contender.kind(), FEW, PATIENCE);
        for (int i = 0; i < some; i++) {
          pauseUpTo(700);
          long since = System.nanoTime();
          kernel.flush();
          heal.computeIfAbsent(contender, _ -> new Samples())
              .add(kernel.await(since, contender.kind(), FEW, PATIENCE));
        }
      }
    }
  }

  /** As on a node where nobody has changed a rule for a while: many nodes, which wait together. */
  private void healsInQuiet(Contender contender) {
    List<AutoCloseable> open = new ArrayList<>();
    try {
      List<KernelView> nodes = new ArrayList<>();
      for (int i = 0; i < repetitions(contender); i++) {
        Namespace node = keep(open, Namespace.open("node"));
        ConfigVolume volume = keep(open, new ConfigVolume());
        KernelView kernel = keep(open, new KernelView(node));
        keep(open, contender.start(node, volume));
        kernel.await(System.nanoTime(), contender.kind(), FEW, PATIENCE);
        nodes.add(kernel);
      }
      for (int round = 0; round < scale.few(); round++) {
        LockSupport.parkNanos(QUIET.toNanos());
        for (KernelView kernel : nodes) {
          pause(random.nextInt(QUIET_BEAT_MILLIS)); // they were started in turn, and beat so
          long since = System.nanoTime();
          kernel.flush();
          healQuiet
              .computeIfAbsent(contender, _ -> new Samples())
              .add(kernel.await(since, contender.kind(), FEW, PATIENCE));
        }
      }
    } finally {
      close(open.reversed());
    }
  }

  private static <T extends AutoCloseable> T keep(List<AutoCloseable> open, T one) {
    open.add(one);
    return one;
  }

  private static void close(List<AutoCloseable> open) {
    for (AutoCloseable one : open) {
      try {
        one.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** A second at least: the agent looks at its own changes once more before it rests. */
  private void pauseUpTo(int millis) {
    pause(1_000 + random.nextInt(millis + 1));
  }

  private static void pause(int millis) {
    LockSupport.parkNanos(millis * 1_000_000L);
  }

  @Override
  public void write(Report report) {
    report.goal(
        "exec → rules complete, iptables, defaults, median",
        120,
        Samples.in(start, Contender.IPTABLES).median(),
        Unit.MILLISECONDS);
    report.goal(
        "config written → rules in the kernel, iptables, median",
        50,
        Samples.in(change, Contender.IPTABLES).median(),
        Unit.MILLISECONDS);
    report.goal(
        "config written → rules in the kernel, nftables, median",
        20,
        Samples.in(change, Contender.NFTABLES).median(),
        Unit.MILLISECONDS);
    report.goal(
        "chain flushed → healed, iptables-nft, on a node where all was quiet, median",
        500,
        Samples.in(healQuiet, Contender.IPTABLES).median(),
        Unit.MILLISECONDS);
    report.section(
        "How soon",
        """
        By the clock on the wall, at default settings: median (least … most), in turns. The rules are looked for over \
        netlink, three times a millisecond. The config is a ConfigMap volume whose `..data` link is swapped; the clock \
        starts before the first byte is written. Chains are flushed at random moments: some \
        seconds after the node's last change, and on nodes where nothing has changed for %d s.
        """
            .formatted(QUIET.toSeconds()));
    List<String[]> rows = new ArrayList<>();
    rows.add(
        new String[] {
          "",
          "exec → rules",
          "the same with IPv6 (rules of IPv4)",
          "config → rules",
          "flushed → healed",
          "the same after a quiet while"
        });
    for (Contender contender : contenders) {
      rows.add(
          new String[] {
            contender.name(),
            spread(start.get(contender)),
            spread(start6.get(contender.with(contender.name() + ", with IPv6", "--enable-ipv6"))),
            spread(change.get(contender)),
            spread(heal.get(contender)),
            spread(healQuiet.get(contender))
          });
    }
    report.table(rows);
    report.text(
        "What a start consists of: Java that only starts, prints its version and ends takes "
            + Unit.MILLISECONDS.text(java.median())
            + ", an `iptables-save` and an `iptables-restore` together "
            + Unit.MILLISECONDS.text(programs.median())
            + ", both with the shell that counts them. The rest is the agent's own: loading classes,"
            + " binding system calls, the question who uses nf_tables on this node, the file, the plan.");
    report.text(
        """
        With nftables there is no row for a flushed chain: the agent owns its table, and the kernel refuses others' changes \
        to it.

        Measured earlier on a like machine, not in this run: the Go agent takes 21 ms from exec to rules (30 ms with IPv6); \
        a change of the config or a flushed chain waits for the rest of its minute, 9 to 57 s.
        """);
  }

  private static String spread(@Nullable Samples samples) {
    return samples == null ? "–" : samples.spread(samples.median(), Unit.MILLISECONDS);
  }
}
