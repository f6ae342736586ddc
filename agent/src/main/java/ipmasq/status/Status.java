package ipmasq.status;

import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.config.Problem;
import ipmasq.evidence.flows.FlowEvidence;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.evidence.neighbours.Explanation;
import ipmasq.evidence.neighbours.Explanation.Wish;
import ipmasq.log.Log;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Tally;
import ipmasq.plan.Tally.Counter;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.sync.SyncReport;
import ipmasq.sync.SyncReport.Basis;
import ipmasq.sync.Trigger;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * All there is to say of a node at one moment. Text, JSON, metrics and page print it. A value:
 * readers on any thread share it.
 *
 * @param last the latest sync
 * @param configSince when the config in force took effect
 * @param history what happened lately, newest last
 * @param flows what live flows showed
 * @param sample what the kernel holds
 * @param waiting why that is not known at the moment
 */
public record Status(
    Identity identity,
    SyncReport last,
    Instant configSince,
    Map<Family, Standing> families,
    Totals totals,
    List<Log.Line> history,
    FlowEvidence flows,
    Sample sample,
    Optional<Waiting> waiting,
    Instant now) {

  /**
   * Which agent this is.
   *
   * @param node the node's name, if known
   * @param started empty if a command read the state itself, and so knows nothing of the past
   */
  public record Identity(
      String version, Optional<String> node, Optional<Instant> started, Agent agent) {}

  /** Who repairs the rules, as far as is known. */
  public sealed interface Agent {
    /** This agent, which answers, or was never meant to. */
    record Running() implements Agent {}

    /** This agent, which writes nothing. */
    record DryRun() implements Agent {}

    /** An agent that should answer and does not: it may hang, or cannot listen. */
    record Unresponsive(long pid, String why) implements Agent {}

    /** Another program by the name of ip-masq-agent. */
    record Foreign(long pid) implements Agent {}

    record None() implements Agent {}

    /** Whether this agent runs. */
    default boolean runs() {
      return switch (this) {
        case Running(), DryRun(), Unresponsive _ -> true;
        case Foreign _, None() -> false;
      };
    }

    /** What to do about rules that are not what the config asks for. */
    default String advice() {
      return switch (this) {
        case Running(), Unresponsive _ -> "look at the agent's log";
        case DryRun() -> "nothing is written in a dry run";
        case Foreign _ -> "stop the other agent, and start this one";
        case None() -> "start the agent, or run apply";
      };
    }
  }

  /** How the rules of a family stand to the config. */
  public enum Rules {
    IN_FORCE,
    /** Another config's, or none. */
    DIFFERENT,
    UNREADABLE,
    UNWRITABLE
  }

  /**
   * The state of one family.
   *
   * @param since when the rules came into force, or no longer were
   * @param backend whose rules these are, or whose failure it is
   * @param failure why they are not in force
   */
  public record Standing(Instant since, String backend, Rules rules, Optional<Failure> failure) {}

  /** What syncs do to the rules of a family. */
  enum Deed {
    /** They wrote rules. */
    CHANGE,
    /** They did so because another program had changed them. */
    REPAIR,
    /** They could not read or write them. */
    FAILURE
  }

  /** How often that was done. */
  record Done(Deed what, Family family) {}

  /**
   * What was counted since the start.
   *
   * @param syncs by what triggered them; one with several triggers counts for the first
   * @param flows flows under way that were made to follow new rules
   * @param rejections how often a config file was found bad that was not before
   * @param durations how many syncs took at most as long as each of {@link #BOUNDS}, not
   *     cumulative; the last: longer than all
   */
  public record Totals(
      Map<Trigger, Long> syncs,
      Map<Done, Long> done,
      long flows,
      long rejections,
      List<Long> durations,
      Duration spent) {
    /** Bounds of the histogram of durations, in milliseconds. */
    static final List<Long> BOUNDS =
        List.of(5L, 10L, 25L, 50L, 100L, 250L, 500L, 1000L, 2500L, 5000L, 10_000L);

    public Totals {
      syncs = Map.copyOf(syncs);
      done = Map.copyOf(done);
      durations = List.copyOf(durations);
    }

    long allSyncs() {
      return syncs.values().stream().mapToLong(Long::longValue).sum();
    }

    long of(Deed what, Family family) {
      return done.getOrDefault(new Done(what, family), 0L);
    }

    long of(Deed what) {
      return Arrays.stream(Family.values()).mapToLong(family -> of(what, family)).sum();
    }
  }

  /**
   * A reading of the kernel, and its time.
   *
   * @param conflicts other programs' rules that override the config, or may; empty if not known
   */
  public record Sample(
      Instant at, Map<Family, Observation> rules, Optional<List<Conflict>> conflicts) {
    /** Nothing was read. */
    public static final Sample NONE = new Sample(Instant.MIN, Map.of(), Optional.empty());

    public Sample {
      rules = Map.copyOf(rules);
    }

    Optional<Observed> observed(Family family) {
      return rules.get(family) instanceof Observation.Seen(var observed)
          ? Optional.of(observed)
          : Optional.empty();
    }

    Optional<Tally> tally(Family family) {
      return observed(family).flatMap(Observed::tally);
    }
  }

  /**
   * A sync that takes long.
   *
   * @param what what it waits for, as a phrase
   * @param tooLong whether the node no longer counts as ready
   */
  public record Waiting(Instant since, String what, boolean tooLong) {
    @Override
    public String toString() {
      return "not known since " + since.truncatedTo(ChronoUnit.SECONDS) + ": " + what;
    }
  }

  /** Whose words it is that a destination is masqueraded, or keeps its source. */
  public enum Shown {
    /** Our rules, and nothing is known to decide against them. */
    HAPPENS("what happens"),
    /** Our rules, beside others that decide, or may. */
    RULES("our rules say"),
    /** The config, because our rules are not in the kernel, or cannot be read. */
    CONFIG("the config says");

    private final String words;

    Shown(String words) {
      this.words = words;
    }

    @Override
    public String toString() {
      return words;
    }
  }

  public Status {
    families = Map.copyOf(families);
  }

  /** The same with a later reading of the kernel. */
  public Status with(Sample later, Optional<Waiting> wait, Instant time) {
    return new Status(
        identity, last, configSince, families, totals, history, flows, later, wait, time);
  }

  /** Whether an agent built this over its life; otherwise a command looked once. */
  boolean hasPast() {
    return identity.started().isPresent();
  }

  /** The families that the agent looks after, in order. */
  List<Family> enabled() {
    return Arrays.stream(Family.values()).filter(families::containsKey).toList();
  }

  /** The state of an enabled family. */
  Standing standing(Family family) {
    return Objects.requireNonNull(families.get(family));
  }

  /** Whether the file is good and the rules are in force, or a dry run leaves them alone. */
  public boolean ready() {
    return last.ready()
        && (!last.pending() || identity.agent() instanceof Agent.DryRun)
        && waiting.filter(Waiting::tooLong).isEmpty();
  }

  public Headline headline() {
    return Headline.of(this);
  }

  /** Why it is not ready, each reason a sentence without its full stop. */
  public List<String> reasons() {
    List<String> reasons = new ArrayList<>();
    waiting.filter(Waiting::tooLong).ifPresent(wait -> reasons.add(wait.toString()));
    switch (last.basis()) {
      case FILE -> {}
      case LAST_GOOD -> reasons.add("the config file is bad, so the last good one stays in force");
      case ROLLED_BACK ->
          reasons.add("the config file was rolled back, so the config before it is in force");
      case FALLBACK ->
          reasons.add(
              hasPast()
                  ? "the config file is bad and was never good, so earlier rules stay or, where"
                      + " there are none, the default list applies"
                  : "the config file is bad");
    }
    for (Family family : enabled()) {
      String rules = "the " + family + " rules ";
      Optional<Failure> failure = standing(family).failure();
      switch (standing(family).rules()) {
        case IN_FORCE -> {}
        case DIFFERENT ->
            reasons.add(
                sample.observed(family).filter(Observed::absent).isPresent()
                    ? "there are no " + family + " rules" + inChain()
                    : rules + "in the kernel are not what " + Headline.source(this) + " asks for");
        case UNREADABLE -> {
          String why = failure.map(Failure::message).orElse("").replaceFirst("\\.$", "");
          reasons.add(rules + "cannot be read: " + why);
        }
        case UNWRITABLE -> reasons.add(rules + "could not be put in force");
      }
    }
    return reasons;
  }

  /** Rules in another chain, as another --masq-chain has them, are not looked for. */
  private String inChain() {
    return last.backend().startsWith("iptables") ? " in chain " + last.config().masqChain() : "";
  }

  /** The causes behind the reasons: errors with their place, failures with their advice. */
  List<String> causes() {
    List<String> causes = new ArrayList<>();
    if (last.basis() != Basis.FILE) {
      last.problems().stream()
          .filter(problem -> problem.severity() == Problem.Severity.ERROR)
          .forEach(problem -> causes.add(problem.toString()));
    }
    enabled().forEach(it -> standing(it).failure().map(Failure::toString).ifPresent(causes::add));
    return causes;
  }

  /** The policy in the kernel; if there is none, or it cannot be read, the desired one. */
  Policy policy(Family family) {
    return read(family).orElseGet(() -> last.policy(family));
  }

  private Optional<Policy> read(Family family) {
    return sample.observed(family).flatMap(Observed::policy);
  }

  /** Whose words {@link #policy} are. */
  Shown shown(Family family) {
    boolean clear =
        standing(family).rules() == Rules.IN_FORCE
            && !isLost(family)
            && sample
                .conflicts()
                .filter(list -> list.stream().noneMatch(it -> it.family() == family))
                .isPresent()
            && flows.wrongNow().isEmpty();
    return read(family).isEmpty() ? Shown.CONFIG : clear ? Shown.HAPPENS : Shown.RULES;
  }

  /** Other programs' rules that override the config, or may, as far as they are known. */
  List<Conflict> conflicts() {
    return sample.conflicts().orElse(List.of());
  }

  /**
   * Whether the rules, as just read, are no longer those of the last sync. Backends hold a policy
   * in different forms, so what is compared is what every form of it has: the exempt ranges.
   */
  boolean isLost(Family family) {
    // A CNI config may hold more, or need nothing; what a later sync did, a reading cannot know.
    return !last.backend().equals("cni")
        && !sample.at().isBefore(last.at())
        && standing(family).rules() == Rules.IN_FORCE
        && sample.observed(family).filter(seen -> !holds(seen, family)).isPresent();
  }

  private boolean holds(Observed seen, Family family) {
    Cidrs desired = last.policy(family).exempt();
    return seen.flaws().isEmpty()
        && seen.policy().filter(it -> it.exempt().equals(desired)).isPresent();
  }

  /** With what sampled flows to the same range showed. */
  Explanation with(Explanation answer) {
    Wish.Kind kind = answer.desired().kind();
    return kind == Wish.Kind.ANYTHING
        ? answer
        : answer.with(flows.toward(answer.to(), kind == Wish.Kind.KEPT, now));
  }

  /** At most the given number of ranges, those with the most flows, in matching order. */
  List<Destination> busiest(Family family, int most) {
    List<Destination> all = policy(family).destinations();
    if (all.size() <= most) {
      return all;
    }
    Map<Cidr, Counter> seen = sample.tally(family).map(Tally::ranges).orElse(Map.of());
    ToLongFunction<Destination> flows = it -> seen.getOrDefault(it.range(), Counter.NONE).packets();
    long least = all.stream().mapToLong(flows).sorted().skip(all.size() - most).iterator().next();
    long ties = most - all.stream().mapToLong(flows).filter(count -> count > least).count();
    List<Destination> busiest = new ArrayList<>(most);
    for (Destination each : all) {
      long count = flows.applyAsLong(each);
      if (count > least || count == least && ties-- > 0) {
        busiest.add(each);
      }
    }
    return busiest;
  }
}
