package ipmasq.bench;

import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.ConfigVolume;
import ipmasq.testkit.KubeProxyRules;
import ipmasq.testkit.Namespace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;

/** What the agent costs beside much that is not its own: the same as alone, or nearly. */
final class Neighbours implements Section {
  private static final int DEFAULTS = 3;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int CHANGES = 20;
  private static final int FLUSHES = 3; // repairs that ours makes before it suspects a fight

  /** The look for conflicts comes in the first half; alone, the agent idles in the second. */
  private static final int HALF_SECONDS = 8;

  /** What an agent was seen to take beside one of those. */
  private static final class Seen {
    private final Samples look = new Samples();
    private final Samples peak = new Samples();
    private final Samples rss = new Samples();
  }

  private final List<Contender> contenders;
  private final Scale scale;
  private final Random random = new Random(5);
  private final Map<Contender, Map<Beside, Samples>> starts = new LinkedHashMap<>();
  private final Map<Beside, Samples> restores = new EnumMap<>(Beside.class);
  private final Map<Beside, Seen> seen = new EnumMap<>(Beside.class);
  private final Samples idleMillis = new Samples();
  private final Samples changes = new Samples();
  private final Samples heals = new Samples();
  private int children;

  Neighbours(List<Contender> contenders, Scale scale) {
    this.contenders = contenders.stream().filter(c -> c.kind() == Contender.Kind.IPTABLES).toList();
    this.scale = scale;
  }

  @Override
  public void measure() {
    Progress.say("loading 50,000 rules and a set of 1,500,000 elements");
    Map<Beside, Namespace> nodes = new EnumMap<>(Beside.class);
    try {
      for (Beside beside : Beside.values()) {
        nodes.put(beside, beside.open());
      }
      Progress.say("exec to rules beside others' rules");
      for (int i = 0; i < scale.repetitions(); i++) {
        starts(nodes);
      }
      for (int i = 0; i < scale.few(); i++) {
        Progress.say("conflicts, changes and flushes beside others' rules");
        lives(nodes);
      }
    } finally {
      nodes.values().forEach(Namespace::close);
    }
  }

  private void starts(Map<Beside, Namespace> nodes) {
    List<Beside> turns = new ArrayList<>(List.of(Beside.NOTHING, Beside.SOME_RULES, Beside.RULES));
    Collections.shuffle(turns, random);
    for (Beside beside : turns) {
      restores
          .computeIfAbsent(beside, _ -> new Samples())
          .add(inKernel(nodes.get(beside), kernel -> restore(nodes.get(beside), kernel)));
    }
    for (Contender contender : contenders) {
      Collections.shuffle(turns, random);
      for (Beside beside : turns) {
        starts
            .computeIfAbsent(contender, _ -> new EnumMap<>(Beside.class))
            .computeIfAbsent(beside, _ -> new Samples())
            .add(start(contender, nodes.get(beside)));
      }
    }
  }

  /** What no agent can do without. */
  private static double restore(Namespace node, KernelView kernel) {
    Set<Long> jumps = kernel.jumps();
    double millis = Layout.loadUpstream(node, new Ranges(DEFAULTS), "nft").ok().millis();
    kernel.undo(jumps);
    return millis;
  }

  private static double start(Contender contender, Namespace node) {
    try (KernelView kernel = new KernelView(node);
        ConfigVolume volume = new ConfigVolume()) {
      Set<Long> jumps = kernel.jumps();
      long since = System.nanoTime();
      double millis;
      try (AgentProcess _ = contender.start(node, volume)) {
        millis = kernel.await(since, contender.kind(), DEFAULTS, PATIENCE);
      }
      kernel.undo(jumps);
      return millis;
    }
  }

  /** An agent on each of the nodes, from its start through all that happens beside it. */
  private void lives(Map<Beside, Namespace> nodes) {
    Map<Beside, Watched> agents = new EnumMap<>(Beside.class);
    Map<Beside, Set<Long>> jumps = new EnumMap<>(Beside.class);
    nodes.forEach((beside, node) -> jumps.put(beside, inKernel(node, KernelView::jumps)));
    try {
      for (Beside beside : Beside.values()) {
        agents.put(beside, new Watched(Contender.IPTABLES, nodes.get(beside), true));
      }
      agents.values().forEach(Watched::awaitRules);
      Pause.seconds(1); // the start itself is measured elsewhere
      looks(agents);
      Namespace node = nodes.get(Beside.RULES);
      changes(node, agents.get(Beside.RULES));
      try (KernelView kernel = new KernelView(node)) {
        for (int i = 0; i < FLUSHES; i++) {
          Pause.millis(1_000 + random.nextInt(1_000));
          heals.add(Reaction.flushed(kernel));
        }
      }
    } finally {
      agents.values().forEach(Watched::close);
    }
    nodes.forEach(
        (beside, node) ->
            inKernel(
                node,
                kernel -> {
                  kernel.undo(jumps.get(beside));
                  return beside;
                }));
  }

  private static <T> T inKernel(Namespace node, Function<KernelView, T> work) {
    try (KernelView kernel = new KernelView(node)) {
      return work.apply(kernel);
    }
  }

  private void looks(Map<Beside, Watched> agents) {
    Map<Beside, Double> before = cpuMillis(agents);
    agents.values().forEach(agent -> Memory.forgetPeak(agent.pid()));
    Pause.seconds(HALF_SECONDS);
    Map<Beside, Double> looked = cpuMillis(agents);
    Pause.seconds(HALF_SECONDS);
    Map<Beside, Double> idled = cpuMillis(agents);
    double idle = idled.get(Beside.NOTHING) - looked.get(Beside.NOTHING);
    idleMillis.add(idle);
    agents.forEach(
        (beside, agent) -> {
          Seen here = seen.computeIfAbsent(beside, _ -> new Seen());
          here.look.add(idled.get(beside) - before.get(beside) - 2 * idle);
          here.peak.add(Memory.peak(agent.pid()));
          here.rss.add(Memory.rss(agent.pid()));
        });
  }

  private static Map<Beside, Double> cpuMillis(Map<Beside, Watched> agents) {
    Map<Beside, Double> cpu = new EnumMap<>(Beside.class);
    agents.forEach((beside, agent) -> cpu.put(beside, agent.cpuMillis()));
    return cpu;
  }

  /** Others' changes, with those of an idle agent taken off for as long as they lasted. */
  private void changes(Namespace node, Watched agent) {
    double before = agent.cpuMillis();
    int childrenBefore = agent.children();
    long start = System.nanoTime();
    for (int i = 0; i < CHANGES; i++) {
      Beside.restore(node, KubeProxyRules.moved(i, "10.245.0." + (1 + random.nextInt(250))));
      Pause.millis(scale.changeMillis());
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    double idle = idleMillis.median() * seconds / HALF_SECONDS;
    changes.add(agent.cpuMillis() - before - idle);
    children += agent.children() - childrenBefore;
  }

  @Override
  public void write(Report report) {
    promises(report);
    report.section(
        "Beside much that is others'",
        """
        A generator makes nat rules as kube-proxy writes them, ten per service. exec → rules, at default settings: median, \
        and in parentheses the median of the ratios to the start alone within each of %d repetitions.
        """
            .formatted(scale.repetitions()));
    List<String[]> rows = new ArrayList<>();
    rows.add(new String[] {"", "alone", "beside 5,000 rules", "beside 50,000 rules"});
    starts.forEach((contender, samples) -> rows.add(startRow(contender.name(), samples)));
    rows.add(startRow("one `iptables-nft-restore`", restores));
    report.table(rows);
    report.text(
        """
        The last row is what every agent needs: for a jump that is added, the kernel checks all rules that the table's \
        hooks lead to.
        """);
    report.text(
        """
        The look for conflicts: CPU time of agent and children from 1 s to %d s after its first rules, less what an idle \
        agent takes in as long; the highest RSS in that time, and the RSS at its end. The set is one of 1,500,000 addresses \
        that a nat chain of a native table refers to. Medians of %d.
        """
            .formatted(2 * HALF_SECONDS + 1, scale.few()));
    List<String[]> looks = new ArrayList<>();
    looks.add(new String[] {"", "CPU of a look", "highest RSS", "RSS", "RSS against alone"});
    seen.forEach((beside, here) -> looks.add(lookRow(beside, here)));
    report.table(looks);
    report.text(
        """
        %d changes of endpoints beside 50,000 rules, one every %,d ms, cost the agent %s of CPU time above idle and %d child \
        processes (%d times %d changes). A flushed chain beside them was healed after %s.
        """
            .formatted(
                CHANGES,
                scale.changeMillis(),
                changes.spread(changes.median(), Unit.MILLISECONDS),
                children,
                changes.count(),
                CHANGES,
                heals.spread(heals.median(), Unit.MILLISECONDS)));
  }

  private void promises(Report report) {
    Map<Beside, Samples> ours = starts.get(Contender.IPTABLES);
    Samples alone = ours.get(Beside.NOTHING);
    report.measured(Promise.START_BESIDE_5_000, ours.get(Beside.SOME_RULES).ratioTo(alone));
    report.measured(Promise.START_BESIDE_50_000, ours.get(Beside.RULES).ratioTo(alone));
    report.measured(Promise.HEAL_BESIDE, heals.max());
    report.measured(Promise.CHANGES_CHILDREN, children);
    report.measured(Promise.CHANGES_CPU, changes.median());
    Seen rules = seen.get(Beside.RULES);
    Seen set = seen.get(Beside.SET);
    double peakAlone = seen.get(Beside.NOTHING).peak.median();
    Samples rssAlone = seen.get(Beside.NOTHING).rss;
    report.measured(Promise.LOOK_RULES_CPU, rules.look.median());
    report.measured(Promise.LOOK_RULES_MEMORY, rules.peak.median() - peakAlone);
    report.measured(Promise.LOOK_SET_CPU, set.look.median());
    report.measured(Promise.LOOK_SET_MEMORY, set.peak.median() - peakAlone);
    report.measured(Promise.RSS_BESIDE_RULES, rules.rss.ratioTo(rssAlone));
    report.measured(Promise.RSS_BESIDE_SET, set.rss.ratioTo(rssAlone));
  }

  private static String[] startRow(String name, Map<Beside, Samples> samples) {
    Samples alone = samples.get(Beside.NOTHING);
    List<String> row = new ArrayList<>(List.of(name));
    samples
        .values()
        .forEach(
            times ->
                row.add(
                    "%s (%s)"
                        .formatted(
                            Unit.MILLISECONDS.text(times.median()),
                            Unit.RATIO.text(times.ratioTo(alone)))));
    return row.toArray(String[]::new);
  }

  private String[] lookRow(Beside beside, Seen here) {
    return new String[] {
      beside.words(),
      Unit.MILLISECONDS.text(here.look.median()),
      Unit.MEGABYTES.text(here.peak.median()),
      Unit.MEGABYTES.text(here.rss.median()),
      Unit.RATIO.text(here.rss.ratioTo(seen.get(Beside.NOTHING).rss))
    };
  }
}
