package ipmasq.backend.nftables;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.net.Family;
import ipmasq.netlink.Errno;
import ipmasq.netlink.nftables.Batch;
import ipmasq.netlink.nftables.Commit;
import ipmasq.netlink.nftables.Table;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A table of our own in nf_tables. Used by one thread.
 *
 * <p>Where the kernel can (6.9 and later), the table is owned: no other process can change it while
 * this one lives, and it stays when this one dies, for the next to adopt.
 */
public final class OwnTable implements Backend, AutoCloseable {
  private final Kernel kernel = new Kernel();
  private final boolean holds;
  private final Map<Family, Policy> committed = new EnumMap<>(Family.class);
  private boolean ownable = true;

  private OwnTable(boolean holds) {
    this.holds = holds;
  }

  /** For the process that keeps the rules: it owns the table where it can. */
  public static OwnTable held() {
    return new OwnTable(true);
  }

  /** For a process that looks, or removes what nobody holds. */
  public static OwnTable visited() {
    return new OwnTable(false);
  }

  /** Whether the kernel answers at all. */
  public boolean works() {
    return observe(Family.IPV4) instanceof Observation.Seen;
  }

  @Override
  public String name() {
    return "nftables";
  }

  @Override
  public String circumstances() {
    return ownable
        ? "the table is owned, so no other process can change it"
        : "this kernel cannot protect a table from other processes (6.9 and later can)";
  }

  @Override
  public Policy form(Policy policy) {
    Policy disjoint = policy.disjoint();
    // A name that any interface matches is no condition, and none that nft could write.
    List<String> interfaces =
        policy.interfaces().contains("+")
            ? List.of()
            : List.copyOf(new LinkedHashSet<>(policy.interfaces()));
    return new Policy(
        disjoint.family(),
        disjoint.sources(),
        interfaces,
        disjoint.destinations(),
        disjoint.translation());
  }

  @Override
  public Observation observe(Family family) {
    try {
      Optional<Held> remembered = remembered(family);
      Held held = remembered.isPresent() ? remembered.get() : kernel.held(family);
      return new Observation.Seen(holds ? held.withFlaws(claims(held)) : held);
    } catch (Unanswered unanswered) {
      return new Observation.Unseen(unanswered.failure());
    }
  }

  /**
   * What this process committed itself to a table that it owns still: nobody else can have changed
   * it. To read a large set back would take the kernel longer than to fill it.
   */
  private Optional<Held> remembered(Family family) throws Unanswered {
    Policy policy = committed.get(family);
    if (policy == null) {
      return Optional.empty();
    }
    Optional<Table> table = kernel.table();
    boolean ours = table.isPresent() && table.get().owner() == kernel.port();
    return ours ? Optional.of(Held.whole(table.get(), policy)) : Optional.empty();
  }

  /** What is wrong with the ownership, by the words of a plan. */
  private List<String> claims(Held held) throws Unanswered {
    if (held.table().isEmpty() || !ownable) {
      return List.of();
    }
    int owner = held.table().get().owner();
    if (owner == kernel.port()) {
      return List.of();
    }
    return List.of(
        owner == 0 ? "the table has no owner" : "the table belongs to " + Owner.of(owner));
  }

  @Override
  public Outcome apply(Plan plan) {
    if (!(plan.observed() instanceof Held held)) {
      throw new IllegalArgumentException("a plan from another backend's observation");
    }
    try {
      int owner = held.table().map(Table::owner).orElse(0);
      if (owner != 0 && owner != kernel.port()) {
        return new Outcome.Refused(
            new Failure(
                Names.TABLE + " belongs to " + Owner.of(owner),
                "another agent runs on this node: stop one of the two"));
      }
      committed.remove(held.family());
      Outcome outcome =
          plan.desired().isPresent()
              ? toward(plan.desired().get(), held)
              : commit(Update.removal(held, kernel.holdsOnly(held.family())));
      if (outcome instanceof Outcome.Applied && plan.desired().isPresent()) {
        committed.put(held.family(), plan.desired().get());
      }
      return outcome;
    } catch (Unanswered unanswered) {
      return new Outcome.Refused(unanswered.failure());
    }
  }

  private Outcome toward(Policy policy, Held held) throws Unanswered {
    Table table =
        holds && ownable ? Names.TABLE.with(Table.Flag.OWNER, Table.Flag.PERSIST) : Names.TABLE;
    int owner = held.table().map(Table::owner).orElse(0);
    boolean dormant = held.table().filter(t -> t.flags().contains(Table.Flag.DORMANT)).isPresent();
    boolean claim = held.table().isEmpty() || dormant || holds && ownable && owner == 0;
    Outcome outcome =
        commit(Update.toward(policy, held, claim ? Optional.of(table) : Optional.empty()));
    if (outcome instanceof Outcome.Refused && claim && holds && ownable && !tookOwnership(table)) {
      ownable = false;
      return toward(policy, held);
    }
    return outcome;
  }

  /** Whether the kernel knows owners that a table outlives: tried on the table alone. */
  private boolean tookOwnership(Table table) throws Unanswered {
    return switch (kernel.commit(new Batch().add(table))) {
      case Commit.Refused refused ->
          !refused.errno().equals(Errno.EINVAL) && !refused.errno().equals(Errno.EOPNOTSUPP);
      case Commit.Committed _, Commit.Raced _, Commit.Unclear _ -> true;
    };
  }

  private Outcome commit(Update update) throws Unanswered {
    Outcome first = outcome(kernel.commit(update.first()));
    return first instanceof Outcome.Applied ? outcome(kernel.commit(update.second())) : first;
  }

  private static Outcome outcome(Commit commit) {
    return switch (commit) {
      case Commit.Committed _ -> new Outcome.Applied();
      case Commit.Raced raced -> new Outcome.Raced(raced.toString());
      case Commit.Unclear(var failure) -> new Outcome.Raced(failure.toString());
      case Commit.Refused refused -> {
        Errno errno = refused.errno();
        // What was to be deleted is gone, what was to be added is there, or somebody else is at it.
        boolean race =
            errno.equals(Errno.ENOENT) || errno.equals(Errno.EEXIST) || errno.equals(Errno.EBUSY);
        yield race
            ? new Outcome.Raced(refused.toString())
            : new Outcome.Refused(Unanswered.failure(refused.toString(), errno));
      }
    };
  }

  @Override
  public void close() {
    kernel.close();
  }
}
