package ipmasq.backend.iptables;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.backend.iptables.NatTable.NatChain;
import ipmasq.iptables.ChildProcesses;
import ipmasq.iptables.Commands;
import ipmasq.iptables.Commands.CommandResult;
import ipmasq.iptables.LegacyTables;
import ipmasq.iptables.Programs;
import ipmasq.iptables.Variant;
import ipmasq.iptables.Variant.Kind;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import ipmasq.policy.Translation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The nat table, by the programs of iptables. Used by one thread. */
public final class IptablesBackend implements Backend, AutoCloseable {
  /** The deadline of one program; the property is for tests, which cannot wait that long. */
  private static final Duration DEADLINE =
      Duration.ofSeconds(Long.getLong("ipmasq.iptables.deadline", 30));

  private static final String LOCK_WAIT_SECONDS = "5";

  private final ChainNames names;
  private final VariantProbe probe;
  private final NatTable nft;

  /**
   * If this one reads what is left in the kind that the node does not use: the one that it uses.
   */
  private final @Nullable IptablesBackend used;

  private Optional<Variant> variant = Optional.empty();
  private Kind printed = Kind.UNKNOWN; // what iptables-save says of itself
  private boolean old; // before 1.6.2
  private boolean worked;

  /** Whether a script that says it is iptables-nft may be another by now. */
  private boolean doubtful;

  /** The restore that last lost a race: if the same one fails again, it was no race. */
  private final Map<Family, String> raced = new EnumMap<>(Family.class);

  private IptablesBackend(
      ChainNames names, VariantProbe probe, NatTable nft, @Nullable IptablesBackend used) {
    this.names = names;
    this.probe = probe;
    this.nft = nft;
    this.used = used;
  }

  IptablesBackend(ChainNames names, VariantProbe probe, NatTable nft) {
    this(names, probe, nft, null);
  }

  /**
   * The iptables that this node uses.
   *
   * @param chain the name of our chain, one that iptables can take
   * @param before chains that this process kept under an earlier config
   * @param all whether every chain that bears our comments is ours, by whatever name
   * @param waiting is told how long an iptables may take when it starts, and nothing when it ended
   */
  public static IptablesBackend ofNode(
      String chain, Set<String> before, boolean all, Consumer<Optional<Duration>> waiting) {
    Programs programs = Programs.ofEnvironment();
    Commands commands = new ChildProcesses(programs, DEADLINE, waiting);
    VariantProbe probe = new VariantProbe(programs, LegacyTables.ofKernel(), commands);
    return new IptablesBackend(ChainNames.of(chain, before, all), probe, new NatTable());
  }

  /** The same for a process that kept no other chain before. */
  public static IptablesBackend ofNode(String chain) {
    return ofNode(chain, Set.of(), false, _ -> {});
  }

  /** The kind of iptables that the node does not use, which may hold older rules. */
  public IptablesBackend other() {
    return new IptablesBackend(names, probe, nft, this);
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

  /** Whether the rules are in legacy tables, which nf_tables does not see. */
  public boolean isLegacy() {
    return kind() == Kind.LEGACY;
  }

  @Override
  public String name() {
    return kind().toString();
  }

  /** Why legacy or nft; known after the first read. */
  @Override
  public String details() {
    return variant.map(Variant::reason).orElse("");
  }

  /** Known after the first read. */
  private Kind kind() {
    Kind linked = variant.map(Variant::kind).orElse(Kind.UNKNOWN);
    return linked == Kind.UNKNOWN ? printed : linked;
  }

  /**
   * Almost the policy itself: iptables prints a source or an interface that means any as none, and
   * an old one cannot randomise ports.
   */
  @Override
  public Policy normalize(Policy policy, Observed observed) {
    return normalize(policy);
  }

  Policy normalize(Policy policy) {
    boolean anySource = policy.sources().stream().anyMatch(source -> source.prefix() == 0);
    boolean anyInterface = policy.interfaces().contains("+");
    Translation how = policy.translation();
    return new Policy(
        policy.family(),
        anySource ? List.of() : policy.sources().stream().distinct().toList(),
        anyInterface ? List.of() : policy.interfaces().stream().distinct().toList(),
        policy.destinations(),
        new Translation(how.addresses(), how.ports(), how.randomFully() && !old));
  }

  @Override
  public Observation observe(Family family) {
    chooseAgain(family);
    Variant now = variant();
    boolean chains = kind() == Kind.NFT && !doubtful;
    String program = chains ? now.program(family) : now.save(family);
    Optional<Failure> mixed = mixed(program);
    if (mixed.isPresent()) {
      return new Observation.Unseen(mixed.get());
    }
    if (isLegacy() && probe.legacy().look(family, "nat") == LegacyTables.Presence.NOT_THERE) {
      return seen(new SavedTable(names), family); // asking would make the kernel create the table
    }
    TableReader reader = new TableReader(probe.commands(), nft, names);
    return switch (chains ? reader.ownChains(program, family) : reader.whole(program, family)) {
      case TableReader.Read.Table(var table) -> seen(table, family);
      case TableReader.Read.Failed(var failure, var _) -> {
        doubtful = now.kind() == Kind.UNKNOWN;
        variant = failure.lasting() ? Optional.empty() : variant;
        yield new Observation.Unseen(failure);
      }
    };
  }

  private Observation seen(SavedTable table, Family family) {
    worked = true;
    doubtful = false;
    printed = table.kind() == Kind.UNKNOWN ? printed : table.kind();
    old |= table.isOld();
    IptablesObserved found = IptablesObserved.in(table, family, names);
    if (found.isSomebodyElses()) {
      return new Observation.Unusable(FailureAdvice.somebodyElses(names.main()));
    }
    return kind() == Kind.NFT && nft.isDormant(family)
        ? new Observation.Unusable(FailureAdvice.dormant(family))
        : new Observation.Seen(found);
  }

  /** Chains by our names that nf_tables has, whatever iptables can do about them. */
  @Override
  public List<String> unreadRemains(Family family) {
    variant();
    List<String> chains = new ArrayList<>();
    int jumps = 0;
    for (String chain : isLegacy() ? Set.<String>of() : names.ours()) {
      if (nft.chain(family, chain) instanceof NatChain.There(var rules, var uses)
          && rules + uses > 0) {
        chains.add(chain);
        jumps += uses;
      }
    }
    return chains.isEmpty()
        ? List.of()
        : List.of(FailureAdvice.removeByHand(family, chains, jumps > 0));
  }

  private Variant variant() {
    if (used != null) {
      used.variant();
      variant = Optional.of(used.kind().other());
    } else if (variant.isEmpty()) {
      printed = Kind.UNKNOWN;
      old = false;
      variant = Optional.of(probe.variant());
    }
    return variant.get();
  }

  /**
   * Chosen once, and again if the name leads to another kind of program by now: somebody has
   * repointed it. Not in the middle of a sync, which would sweep what it has just written.
   */
  private void chooseAgain(Family family) {
    if (family == Family.IPV4 && used == null) {
      variant = variant.filter(it -> probe.programs().kind(it.save(family)).equals(it.kind()));
    }
  }

  /** What is written by a program of the other kind would be swept as that one's leftovers. */
  private Optional<Failure> mixed(String program) {
    Kind kind = probe.programs().kind(program);
    return kind == Kind.UNKNOWN || kind() == Kind.UNKNOWN || kind == kind()
        ? Optional.empty()
        : Optional.of(FailureAdvice.mixed(program, kind, kind()));
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
    Optional<Failure> mixed = mixed(program);
    if (mixed.isPresent()) {
      return new Outcome.Refused(mixed.get());
    }
    List<String> command = new ArrayList<>(List.of(program, "--noflush", "--counters"));
    command.addAll(old ? List.of() : List.of("-w", LOCK_WAIT_SECONDS));
    CommandResult result = probe.commands().run(command, text, line -> {});
    if (!(result instanceof CommandResult.Ended ended)) {
      variant = result instanceof CommandResult.Missing ? Optional.empty() : variant;
      return new Outcome.Refused(FailureAdvice.of(program, family, result));
    }
    if (ended.status() == 0) {
      raced.remove(family);
      return new Outcome.Applied();
    }
    if (FailureAdvice.isRace(ended, text) && !text.equals(raced.put(family, text))) {
      return new Outcome.Retry(FailureAdvice.of(program, family, ended).message());
    }
    return new Outcome.Refused(FailureAdvice.of(program, family, ended));
  }
}
