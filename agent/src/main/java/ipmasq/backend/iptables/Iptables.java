package ipmasq.backend.iptables;

import ipmasq.backend.Backend;
import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.backend.iptables.Commands.Result;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import ipmasq.policy.Translation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The nat table, by iptables-save and iptables-restore. Used by one thread. */
public final class Iptables implements Backend {
  /** For one run of a program; the property is for tests, which cannot wait that long. */
  private static final Duration DEADLINE =
      Duration.ofSeconds(Long.getLong("ipmasq.iptables.deadline", 30));

  private static final String LOCK_WAIT_SECONDS = "5";

  private final Names names;
  private final Programs programs;
  private final Commands commands;
  private final LegacyTables legacy;
  private final Probe probe;
  private Optional<Variant> variant = Optional.empty();
  private Header header = Header.NONE;
  private boolean randomFully = true;
  private boolean answered;
  private boolean worked;
  private int failures;

  /** Where the table is so full of others' rules that a glance pays. */
  private final Set<Family> crowded = EnumSet.noneOf(Family.class);

  /** Where our second chain is in use. */
  private final Set<Family> exceptions = EnumSet.noneOf(Family.class);

  /** The restore that lost a race last: when the same one fails again, it was no race. */
  private final Map<Family, String> raced = new EnumMap<>(Family.class);

  Iptables(String chain, Programs programs, LegacyTables legacy, Commands commands) {
    this.names = Names.of(chain);
    this.programs = programs;
    this.commands = commands;
    this.legacy = legacy;
    this.probe = new Probe(programs, legacy, commands);
  }

  /**
   * The iptables of this node.
   *
   * @param chain the name of our chain, one that iptables can take
   */
  public static Iptables ofNode(String chain) {
    Programs programs = Programs.ofEnvironment();
    return new Iptables(
        chain, programs, LegacyTables.ofKernel(), new ChildProcesses(programs, DEADLINE));
  }

  /** Whether there is one to run: it answered when it was last asked, or it is on PATH. */
  public boolean isInstalled() {
    return answered || programs.find("iptables-save").isPresent();
  }

  /** Whether the rules are kept where nf_tables does not see them; known from the first look on. */
  public boolean isLegacy() {
    return variant.isPresent() && variant.get().kind() == Variant.Kind.LEGACY;
  }

  /**
   * How many looks have failed while none had worked yet. What worked once works again: descriptors
   * or memory that ran out do not make it another node.
   */
  public int failures() {
    return failures;
  }

  @Override
  public String name() {
    return variant.map(Variant::kind).orElse(Variant.Kind.UNKNOWN).toString();
  }

  /** Why legacy or nft; known from the first look on. */
  @Override
  public String circumstances() {
    return variant.map(Variant::reason).orElse("");
  }

  /**
   * Almost the policy itself: a source or an interface that means any is printed by iptables-save
   * as none, and an old iptables cannot randomise ports.
   */
  @Override
  public Policy form(Policy policy) {
    Translation how = policy.translation();
    return new Policy(
        policy.family(),
        anySource(policy.sources()) ? List.of() : distinct(policy.sources()),
        policy.interfaces().contains("+") ? List.of() : distinct(policy.interfaces()),
        policy.destinations(),
        randomFully ? how : new Translation(how.addresses(), how.ports(), false));
  }

  private static boolean anySource(List<Cidr> sources) {
    for (Cidr source : sources) {
      if (source.prefix() == 0) {
        return true;
      }
    }
    return false;
  }

  private static <T> List<T> distinct(List<T> list) {
    return list.size() < 2 ? list : List.copyOf(new LinkedHashSet<>(list));
  }

  @Override
  public Observation observe(Family family) {
    Observation observation = glanceOrLook(family);
    answered = observation instanceof Observation.Seen;
    worked |= answered;
    failures = worked ? 0 : failures + 1;
    return observation;
  }

  private Observation glanceOrLook(Family family) {
    Variant now = variant();
    if (now.kind() == Variant.Kind.LEGACY
        && legacy.look(family, "nat") == LegacyTables.Presence.NOT_THERE) {
      // To ask would load the table into the kernel, for nothing.
      return new Observation.Seen(Found.in(new SavedTable(names), family, names));
    }
    if (now.kind() == Variant.Kind.NFT && crowded.contains(family)) {
      Optional<Found> found =
          new Glance(commands, now, names).at(family, exceptions.contains(family));
      if (found.isPresent()) {
        return new Observation.Seen(found.get());
      }
    }
    return look(family);
  }

  /** Looks at the whole table. */
  private Observation look(Family family) {
    SavedTable table = new SavedTable(names);
    String program = variant().save(family);
    Result result = commands.run(List.of(program, "-c", "-t", "nat"), "", table::accept);
    if (!(result instanceof Result.Ended(var status, var _) && status == 0)) {
      forgetMissing(result);
      return new Observation.Unseen(Trouble.of(program, family, result));
    }
    if (table.unreadable().isPresent()) {
      return new Observation.Unseen(Trouble.unreadable(program, family, table.unreadable().get()));
    }
    learn(table.header());
    Found found = Found.in(table, family, names);
    mark(crowded, family, table.foreignRules() > Glance.CROWD);
    mark(exceptions, family, !found.out().isEmpty());
    return new Observation.Seen(found);
  }

  private static void mark(Set<Family> families, Family family, boolean is) {
    if (is) {
      families.add(family);
    } else {
      families.remove(family);
    }
  }

  private Variant variant() {
    if (variant.isEmpty()) {
      variant = Optional.of(probe.variant());
    }
    return variant.get();
  }

  /** What is installed later may be another variant. */
  private void forgetMissing(Result result) {
    if (result instanceof Result.Missing) {
      variant = Optional.empty();
    }
  }

  private void learn(Header told) {
    if (!told.equals(Header.NONE)) {
      header = told;
      randomFully &= told.knowsRandomFully();
      variant = variant.map(v -> v.confirmed(told.kind()));
    }
  }

  @Override
  public Outcome apply(Plan plan) {
    if (!(plan.observed() instanceof Found found)) {
      throw new IllegalArgumentException("a plan from another backend's observation");
    }
    if (plan.isEmpty()) {
      return new Outcome.Applied();
    }
    if (found.partial()) {
      return switch (look(found.family())) {
        case Observation.Unseen(var failure) -> new Outcome.Refused(failure);
        case Observation.Seen(var whole) ->
            apply(
                plan.desired()
                    .map(p -> Plan.toward(p, whole))
                    .orElseGet(() -> Plan.removal(whole)));
      };
    }
    String text = Restore.text(found, plan.desired().map(this::form), names);
    return text.isEmpty() ? new Outcome.Applied() : restore(found, plan, text);
  }

  private Outcome restore(Found found, Plan plan, String text) {
    Family family = found.family();
    String program = variant().restore(family);
    Result result = commands.run(command(program), text, line -> {});
    if (!(result instanceof Result.Ended ended)) {
      forgetMissing(result);
      return new Outcome.Refused(Trouble.of(program, family, result));
    }
    if (ended.status() == 0) {
      raced.remove(family);
      return new Outcome.Applied();
    }
    if (randomFully && ended.errors().contains("random-fully")) {
      randomFully = false;
      return apply(plan);
    }
    if (Trouble.isRace(ended, text) && !text.equals(raced.put(family, text))) {
      return new Outcome.Raced(Trouble.of(program, family, ended).message());
    }
    return new Outcome.Refused(Trouble.of(program, family, ended));
  }

  private List<String> command(String program) {
    List<String> command = new ArrayList<>(List.of(program, "--noflush", "--counters"));
    if (header.knowsLockWait()) {
      command.add("-w");
      command.add(LOCK_WAIT_SECONDS);
    }
    return command;
  }
}
