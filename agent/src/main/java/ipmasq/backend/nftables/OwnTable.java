package ipmasq.backend.nftables;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.netlink.Errno;
import ipmasq.netlink.nftables.Batch;
import ipmasq.netlink.nftables.Commit;
import ipmasq.netlink.nftables.Table;
import ipmasq.plan.Observed;
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
  private final boolean owns;
  private final Map<Family, Known> known = new EnumMap<>(Family.class);
  private boolean ownable;
  private boolean owned;

  private OwnTable(boolean owns) {
    this.owns = owns;
    this.ownable = owns;
  }

  /** For the process that keeps the rules: it owns the table where it can. */
  public static OwnTable held() {
    return new OwnTable(true);
  }

  /** For a process that looks, or removes what nobody holds; also as on a kernel without owners. */
  public static OwnTable visited() {
    return new OwnTable(false);
  }

  Kernel kernel() {
    return kernel;
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
    return owned
        ? "the table is owned, so no other process can change it"
        : "the table is open to other processes: an owner needs kernel 6.9, and a table that was"
            + " made with one";
  }

  @Override
  public Policy normalize(Policy policy, Observed observed) {
    return form(policy);
  }

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
        disjoint.translation(),
        disjoint.pinned());
  }

  @Override
  public Observation observe(Family family) {
    try {
      Held held = kernel.held(family, known(family));
      owned = held.owner() != 0;
      return new Observation.Seen(owns ? held.withFlaws(claims(held)) : held);
    } catch (Unanswered unanswered) {
      return new Observation.Unseen(unanswered.failure());
    }
  }

  private Known known(Family family) {
    return known.computeIfAbsent(family, _ -> new Known());
  }

  /** What is wrong with the ownership, by the words of a plan. */
  private List<String> claims(Held held) throws Unanswered {
    if (held.table().isEmpty() || !ownable || held.owner() == kernel.port()) {
      return List.of();
    }
    return List.of(
        held.owner() == 0
            ? "the table has no owner"
            : "the table belongs to " + Owner.of(held.owner()));
  }

  @Override
  public Outcome apply(Plan plan) {
    if (!(plan.observed() instanceof Held held)) {
      throw new IllegalArgumentException("a plan from another backend's observation");
    }
    known(held.family()).forget();
    try {
      if (held.owner() != 0 && held.owner() != kernel.port()) {
        return new Outcome.Refused(
            new Failure(
                Names.TABLE + " belongs to " + Owner.of(held.owner()),
                "another agent runs on this node: stop one of the two"));
      }
      return plan.desired().isPresent()
          ? toward(plan.desired().get(), held)
          : commit(Update.removal(held, kernel.holdsOnly(held.family())));
    } catch (Unanswered unanswered) {
      return new Outcome.Refused(unanswered.failure());
    }
  }

  private Outcome toward(Policy policy, Held held) throws Unanswered {
    if (held.table().isEmpty()) {
      ownable = owns; // a new table, a new try
    }
    Outcome outcome = attempt(policy, held);
    if (outcome instanceof Outcome.Refused && ownable && !tookOwnership()) {
      ownable = false;
      outcome = attempt(policy, held);
    }
    if (outcome instanceof Outcome.Applied) {
      remember(policy);
    }
    return outcome;
  }

  private Outcome attempt(Policy policy, Held held) throws Unanswered {
    boolean dormant = held.table().filter(t -> t.flags().contains(Table.Flag.DORMANT)).isPresent();
    boolean claim =
        held.table().isEmpty() || held.foreign() || dormant || ownable && held.owner() == 0;
    return commit(Update.toward(policy, held, claim ? Optional.of(claimed()) : Optional.empty()));
  }

  private Table claimed() {
    return ownable ? Names.TABLE.with(Table.Flag.OWNER, Table.Flag.PERSIST) : Names.TABLE;
  }

  /** Whether the kernel knows owners that a table outlives: tried on the table alone. */
  private boolean tookOwnership() throws Unanswered {
    return switch (kernel.commit(new Batch().add(claimed()))) {
      case Commit.Refused refused ->
          !refused.errno().is(Errno.EINVAL) && !refused.errno().is(Errno.EOPNOTSUPP);
      case Commit.Committed _, Commit.Raced _, Commit.Unclear _ -> true;
    };
  }

  private void remember(Policy policy) throws Unanswered {
    Optional<Table> table = kernel.table();
    owned = table.isPresent() && table.get().owner() == kernel.port();
    if (owned) {
      known(policy.family())
          .written(
              table.get(),
              Content.written(Update.exempt(policy)),
              Content.written(Cidrs.copyOf(policy.sources())));
    }
  }

  private Outcome commit(Update update) throws Unanswered {
    Outcome first = outcome(kernel.commit(update.first()));
    return first instanceof Outcome.Applied ? outcome(kernel.commit(update.second())) : first;
  }

  static Outcome outcome(Commit commit) {
    return switch (commit) {
      case Commit.Committed _ -> new Outcome.Applied();
      case Commit.Raced raced -> new Outcome.Raced(raced.toString());
      case Commit.Unclear(var failure) -> new Outcome.Raced(failure.toString());
      case Commit.Refused refused -> {
        Errno errno = refused.errno();
        // What was to be deleted is gone, what was to be added is there, somebody else is at it, or
        // there was no room to say so.
        boolean race =
            errno.is(Errno.ENOENT)
                || errno.is(Errno.EEXIST)
                || errno.is(Errno.EBUSY)
                || errno.is(Errno.ENOBUFS);
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
