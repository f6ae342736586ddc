package ipmasq.backend.iptables;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.iptables.ChildProcesses;
import ipmasq.iptables.Commands;
import ipmasq.iptables.Commands.CommandResult;
import ipmasq.iptables.LegacyTables;
import ipmasq.iptables.Programs;
import ipmasq.iptables.Variant;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import ipmasq.policy.Translation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** The nat table, by the programs of iptables. Used by one thread. */
public final class IptablesBackend implements Backend, AutoCloseable {
  /** The deadline of one program; the property is for tests, which cannot wait that long. */
  private static final Duration DEADLINE =
      Duration.ofSeconds(Long.getLong("ipmasq.iptables.deadline", 30));

  private static final String LOCK_WAIT_SECONDS = "5";

  /** How often to list again if chains disappear meanwhile. */
  private static final int LOOKS = 3;

  private final ChainNames names;
  private final Supplier<Variant> which;
  private final LegacyTables legacy;
  private final Commands commands;
  private final NatTable nft;
  private Optional<Variant> variant = Optional.empty();
  private SaveHeader header = SaveHeader.NONE;
  private boolean randomFully = true;
  private boolean worked;

  /** The restore that last lost a race: if the same one fails again, it was no race. */
  private final Map<Family, String> raced = new EnumMap<>(Family.class);

  IptablesBackend(
      ChainNames names,
      Supplier<Variant> which,
      LegacyTables legacy,
      Commands commands,
      NatTable nft) {
    this.names = names;
    this.which = which;
    this.legacy = legacy;
    this.commands = commands;
    this.nft = nft;
  }

  /**
   * The iptables that this node uses.
   *
   * @param chain the name of our chain, one that iptables can take
   * @param before chains that this process kept under an earlier config
   * @param all whether every chain that bears our comments is ours, by whatever name
   */
  public static IptablesBackend ofNode(String chain, Set<String> before, boolean all) {
    Programs programs = Programs.ofEnvironment();
    Commands commands = new ChildProcesses(programs, DEADLINE);
    LegacyTables legacy = LegacyTables.ofKernel();
    return new IptablesBackend(
        ChainNames.of(chain, before, all),
        new VariantProbe(programs, legacy, commands)::variant,
        legacy,
        commands,
        new KernelNatTable());
  }

  /** The same for a process that kept no other chain before. */
  public static IptablesBackend ofNode(String chain) {
    return ofNode(chain, Set.of(), false);
  }

  /** The iptables variant that the node does not use, which may hold older rules. */
  public IptablesBackend other() {
    return new IptablesBackend(names, () -> variant().other(), legacy, commands, nft);
  }

  @Override
  public void close() {
    nft.close();
  }

  /** The names of chains that are, or were, ours. */
  public List<String> chains() {
    return List.copyOf(names.ours());
  }

  /** Whether its rules could ever be read. */
  public boolean worked() {
    return worked;
  }

  /** Whether there is one to run. */
  public static boolean isInstalled() {
    return Programs.ofEnvironment().find("iptables-save").isPresent();
  }

  /**
   * Whether the rules are in legacy tables, which nf_tables does not see; known after the first
   * look.
   */
  public boolean isLegacy() {
    return variant.isPresent() && variant.get().kind() == Variant.VariantKind.LEGACY;
  }

  @Override
  public String name() {
    return variant.map(Variant::kind).orElse(Variant.VariantKind.UNKNOWN).toString();
  }

  /** Why legacy or nft; known after the first look. */
  @Override
  public String details() {
    return variant.map(Variant::reason).orElse("");
  }

  /**
   * Almost the policy itself: a source or an interface that means any is printed by iptables as
   * none, and an old iptables cannot randomise ports.
   */
  @Override
  public Policy normalize(Policy policy, Observed observed) {
    return normalize(policy);
  }

  Policy normalize(Policy policy) {
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
    return switch (variant().kind()) {
      case NFT -> ownChains(family);
      // Asking would load the table into the kernel for nothing.
      case LEGACY ->
          legacy.look(family, "nat") == LegacyTables.Presence.NOT_THERE
              ? seen(new SavedTable(names), family)
              : wholeTable(family);
      case UNKNOWN -> wholeTable(family);
    };
  }

  private Observation ownChains(Family family) {
    OwnChains chains = new OwnChains(commands, nft, variant(), names);
    String difference = "";
    for (int look = 0; look < LOOKS; look++) {
      switch (chains.list(family)) {
        case OwnChains.Listing.OwnListing(var table) -> {
          return table.unreadable().isPresent()
              ? unreadable(variant().program(family), family, table)
              : seen(table, family);
        }
        case OwnChains.Listing.ListingFailed(var failure) -> {
          variant = failure.lasting() ? Optional.empty() : variant;
          return new Observation.Unseen(failure);
        }
        case OwnChains.Listing.Differs(var chain, var listed, var held) ->
            difference =
                listed + " rules of chain " + chain + " were printed, and the kernel has " + held;
      }
    }
    return new Observation.Unseen(
        new Failure(
            "what " + variant().program(family) + " printed cannot be used: " + difference,
            "tried again shortly; find out who keeps rewriting the nat table"));
  }

  /**
   * Legacy always prints its whole table. If the program's name does not tell the variant, the
   * header of this text does.
   */
  private Observation wholeTable(Family family) {
    SavedTable table = new SavedTable(names);
    String program = variant().save(family);
    CommandResult result = commands.run(List.of(program, "-c", "-t", "nat"), "", table::accept);
    if (!(result instanceof CommandResult.Ended(var status, var _) && status == 0)) {
      forgetMissing(result);
      return new Observation.Unseen(FailureAdvice.of(program, family, result));
    }
    if (table.unreadable().isPresent()) {
      return unreadable(program, family, table);
    }
    learn(table.header());
    return seen(table, family);
  }

  private static Observation unreadable(String program, Family family, SavedTable table) {
    return new Observation.Unseen(
        FailureAdvice.unreadable(program, family, table.unreadable().orElseThrow()));
  }

  private Observation seen(SavedTable table, Family family) {
    worked = true;
    IptablesObserved found = IptablesObserved.in(table, family, names);
    if (found.isSomebodyElses()) {
      return new Observation.Unusable(FailureAdvice.somebodyElses(names.main()));
    }
    boolean asleep =
        variant().kind() == Variant.VariantKind.NFT
            && nft.dormant(family) instanceof NatTable.NatAnswer.Answered<Boolean>(var dormant)
            && dormant;
    return asleep
        ? new Observation.Unusable(FailureAdvice.dormant(family))
        : new Observation.Seen(found);
  }

  /** Chains by our names that nf_tables has, whatever iptables can do about them. */
  @Override
  public List<String> unreadRemains(Family family) {
    boolean nowhere = variant().kind() == Variant.VariantKind.LEGACY; // not in nf_tables
    List<String> chains = new ArrayList<>();
    int jumps = 0;
    for (String chain : nowhere ? Set.<String>of() : names.ours()) {
      if (nft.chain(family, chain)
              instanceof NatTable.NatAnswer.Answered<Optional<NatTable.Use>>(var use)
          && use.filter(it -> it.rules() + it.jumps() > 0).isPresent()) {
        chains.add(chain);
        jumps += use.get().jumps();
      }
    }
    return chains.isEmpty()
        ? List.of()
        : List.of(FailureAdvice.removeByHand(family, chains, jumps > 0));
  }

  private Variant variant() {
    if (variant.isEmpty()) {
      variant = Optional.of(which.get());
    }
    return variant.get();
  }

  /** A program installed later may be the other variant. */
  private void forgetMissing(CommandResult result) {
    if (result instanceof CommandResult.Missing) {
      variant = Optional.empty();
    }
  }

  private void learn(SaveHeader told) {
    if (!told.equals(SaveHeader.NONE)) {
      header = told;
      randomFully &= told.knowsRandomFully();
      variant = variant.map(v -> v.confirmed(told.kind()));
    }
  }

  @Override
  public Outcome apply(Plan plan) {
    if (!(plan.observed() instanceof IptablesObserved found)) {
      throw new IllegalArgumentException("a plan from another backend's observation");
    }
    String text = plan.isEmpty() ? "" : RestoreInput.text(found, plan.desired(), names);
    return text.isEmpty() ? new Outcome.Applied() : restore(found.family(), text);
  }

  private Outcome restore(Family family, String text) {
    String program = variant().restore(family);
    CommandResult result = commands.run(command(program), text, line -> {});
    if (!(result instanceof CommandResult.Ended ended)) {
      forgetMissing(result);
      return new Outcome.Refused(FailureAdvice.of(program, family, result));
    }
    if (ended.status() == 0) {
      raced.remove(family);
      return new Outcome.Applied();
    }
    if (randomFully && ended.errors().contains("random-fully")) {
      randomFully = false;
      return new Outcome.Retry("this iptables does not know --random-fully");
    }
    if (FailureAdvice.isRace(ended, text) && !text.equals(raced.put(family, text))) {
      return new Outcome.Retry(FailureAdvice.of(program, family, ended).message());
    }
    return new Outcome.Refused(FailureAdvice.of(program, family, ended));
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
