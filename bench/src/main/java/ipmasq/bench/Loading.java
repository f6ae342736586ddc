package ipmasq.bench;

import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.backend.nftables.NftablesBackend;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Namespace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** What it costs to load ranges into a node that has none, and to add one to those it has. */
final class Loading implements Section {
  private enum Way {
    RESTORE_NFT("iptables-nft-restore"),
    RESTORE_LEGACY("iptables-legacy-restore"),
    APPLY("ours, `apply --backend=nftables`: start, file, rules, end"),
    BACKEND("ours, the backend alone in a running JVM"),
    ONE_MORE("ours, one range more (observe, plan, apply)"),
    ONE_MORE_PLAN("… of that, the plan"),
    ONE_MORE_APPLY("… of that, the commit");

    private final String words;

    Way(String words) {
      this.words = words;
    }
  }

  /** Up to here a list of rules is loaded; beyond, nobody would wait for the packets. */
  private static final int LONGEST_LIST = 100_000;

  private static final int MILLION = 1_000_000;

  /** How many ranges come one by one after each load. */
  private static final int ONE_BY_ONE = 5;

  private final Scale scale;
  private final Map<Integer, Map<Way, Samples>> results = new TreeMap<>();

  Loading(Scale scale) {
    this.scale = scale;
  }

  @Override
  public void measure() {
    Random random = new Random(2);
    for (int size : scale.loads()) {
      Progress.say("loading " + Unit.grouped(size) + " ranges");
      Map<Way, Samples> costs = new EnumMap<>(Way.class);
      results.put(size, costs);
      List<Way> ways =
          new ArrayList<>(List.of(Way.RESTORE_NFT, Way.RESTORE_LEGACY, Way.APPLY, Way.BACKEND));
      if (size > LONGEST_LIST) {
        ways.removeAll(List.of(Way.RESTORE_NFT, Way.RESTORE_LEGACY));
      }
      int repetitions = size == MILLION ? 1 : size == LONGEST_LIST ? 3 : scale.few();
      for (int i = -1; i < repetitions; i++) { // once for nothing: the backend's code is compiled
        Collections.shuffle(ways, random);
        for (Way way : ways) {
          boolean warmsUp = way == Way.BACKEND && size < MILLION;
          if (i >= 0 || warmsUp) {
            load(way, new Ranges(size), i >= 0 ? costs : new EnumMap<>(Way.class));
          }
        }
      }
    }
  }

  private void load(Way way, Ranges ranges, Map<Way, Samples> costs) {
    try (Namespace node = Namespace.open("node")) {
      switch (way) {
        case RESTORE_NFT -> add(costs, way, Layout.loadUpstream(node, ranges, "nft").ok());
        case RESTORE_LEGACY -> add(costs, way, Layout.loadUpstream(node, ranges, "legacy").ok());
        case APPLY -> add(costs, way, apply(node, ranges).ok());
        case BACKEND, ONE_MORE, ONE_MORE_PLAN, ONE_MORE_APPLY ->
            node.call(() -> backend(ranges, costs));
      }
    }
  }

  private static void add(Map<Way, Samples> costs, Way way, Command.Cost cost) {
    add(costs, way, cost.cpuMillis());
  }

  private static void add(Map<Way, Samples> costs, Way way, double millis) {
    costs.computeIfAbsent(way, _ -> new Samples()).add(millis);
  }

  private static Command.Cost apply(Namespace node, Ranges ranges) {
    try {
      Path config = Files.createTempFile("ipmq-", ".yaml");
      try {
        Files.writeString(config, ranges.config());
        List<String> command = new ArrayList<>();
        if (ranges.count() >= MILLION) {
          command.addAll(Java.command("-Xmx" + Heap.MILLION_MEGABYTES + "m"));
        } else {
          command.add(AgentProcess.builtAgent().toString());
        }
        command.addAll(List.of("apply", "--backend=nftables", "--config", config.toString()));
        return Command.run(node, "", command.toArray(String[]::new));
      } finally {
        Files.delete(config);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static double cpuMillis() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e6;
  }

  /** In a thread of its own, inside the node. */
  private static boolean backend(Ranges ranges, Map<Way, Samples> costs) {
    try (NftablesBackend table = NftablesBackend.owning()) {
      Policy policy = ranges.policy();
      double start = cpuMillis();
      Layout.enforce(table, policy);
      double loaded = cpuMillis();
      add(costs, Way.BACKEND, loaded - start);
      Map<Way, Samples> single = new EnumMap<>(Way.class);
      for (int more = 1; more <= ONE_BY_ONE; more++) {
        oneMore(table, new Ranges(ranges.count() + more).policy(), single);
      }
      single.forEach((way, samples) -> add(costs, way, samples.median()));
      return true;
    }
  }

  /** The agent has a config file to read before; this begins with a policy. */
  private static void oneMore(NftablesBackend table, Policy policy, Map<Way, Samples> costs) {
    double before = cpuMillis();
    Policy desired = table.normalize(policy);
    Observed observed =
        switch (table.observe(Family.IPV4)) {
          case Observation.Seen(var seen) -> seen;
          case Observation.Unseen(var failure) ->
              throw new IllegalStateException(failure.toString());
          case Observation.Unusable(var failure) ->
              throw new IllegalStateException(failure.toString());
        };
    double looked = cpuMillis();
    Plan plan = Plan.toward(desired, observed);
    double planned = cpuMillis();
    if (!(table.apply(plan) instanceof Outcome.Applied)) {
      throw new IllegalStateException("one more range was not taken");
    }
    double applied = cpuMillis();
    add(costs, Way.ONE_MORE, applied - before);
    add(costs, Way.ONE_MORE_PLAN, planned - looked);
    add(costs, Way.ONE_MORE_APPLY, applied - planned);
  }

  @Override
  public void write(Report report) {
    report.section(
        "Loading ranges",
        """
        CPU time, median of %d (of 3 for 100,000 ranges; 1,000,000 once). The backend alone is one thread of a JVM that has \
        done the same once before; after each load, %d ranges come one by one, from a config that has been read already. \
        Lists of 1,000,000 rules were not tried.
        """
            .formatted(scale.few(), ONE_BY_ONE));
    List<String[]> rows = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of("ranges"));
    results.keySet().forEach(size -> head.add(Unit.grouped(size)));
    rows.add(head.toArray(String[]::new));
    for (Way way : Way.values()) {
      List<String> row = new ArrayList<>(List.of(way.words));
      for (Map<Way, Samples> costs : results.values()) {
        Samples samples = costs.get(way);
        row.add(samples == null ? "–" : Unit.MILLISECONDS.text(samples.median()));
      }
      rows.add(row.toArray(String[]::new));
    }
    report.table(rows);
  }
}
