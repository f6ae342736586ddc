package ipmasq.backend.nftables;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.net.Family;
import ipmasq.netlink.Errno;
import ipmasq.netlink.nftables.Commit;
import ipmasq.netlink.nftables.Table;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * A table of our own in nf_tables. Used by one thread.
 *
 * <p>On kernel 6.9 and later the table is owned: no other process can change it while this one
 * lives, and it stays when this one dies, for the next to adopt.
 */
public final class NftablesBackend implements Backend, AutoCloseable {
  private final NftablesClient kernel = new NftablesClient();
  private final KernelFeatures desired;
  private KernelFeatures features;
  private String details = "";

  private NftablesBackend(KernelFeatures desired) {
    this.desired = desired;
    this.features = desired;
  }

  /** For the process that keeps the rules: it owns the table where it can. */
  public static NftablesBackend owning() {
    return new NftablesBackend(KernelFeatures.OWNER);
  }

  /** For a process that looks, or removes what nobody holds. */
  public static NftablesBackend withoutOwner() {
    return new NftablesBackend(KernelFeatures.ELEMENT_COUNTERS);
  }

  /** As on a kernel with only these features. */
  static NftablesBackend with(KernelFeatures features) {
    return new NftablesBackend(features);
  }

  /** Whether the kernel answers at all. */
  public boolean works() {
    return observe(Family.IPV4) instanceof Observation.Seen;
  }

  /** Whether kube-proxy has rules in nftables. */
  public boolean hasKubeProxy() {
    try {
      return kernel.hasKubeProxy();
    } catch (QueryFailed cannotTell) {
      return false;
    }
  }

  @Override
  public String name() {
    return "nftables";
  }

  @Override
  public String details() {
    return details;
  }

  /** The table's owner and counters, as {@code status} words it. */
  static String details(Table table, boolean counted) {
    String access =
        table.owner() != 0
            ? "the table is owned, so no other process can change it"
            : isAdoptable(table)
                ? "no agent owns the table at the moment, so other processes can change it"
                : "other processes can change the table: an owner needs kernel 6.9, and a table"
                    + " that was made with one";
    return counted
        ? access
        : access + "; flows are not counted range by range: that needs kernel 5.12";
  }

  /** Whether its owner is gone and the table can be adopted. */
  private static boolean isAdoptable(Table table) {
    return table.owner() == 0 && table.flags().contains(Table.Flag.PERSIST);
  }

  @Override
  public Policy normalize(Policy policy, Observed observed) {
    return normalize(policy);
  }

  public Policy normalize(Policy policy) {
    Policy disjoint = policy.disjoint();
    // A name that matches every interface is no condition, and nft could not write it.
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
      NftablesObserved observed = kernel.observe(family);
      observed.table().ifPresent(table -> details = details(table, observed.isCounted()));
      return new Observation.Seen(
          desired == KernelFeatures.OWNER ? observed.withFlaws(claims(observed)) : observed);
    } catch (QueryFailed unanswered) {
      return new Observation.Unseen(unanswered.failure());
    }
  }

  /** What is wrong with the ownership, by the words of a plan. */
  private List<String> claims(NftablesObserved observed) throws QueryFailed {
    if (observed.owner() != 0) {
      return observed.owner() == kernel.port()
          ? List.of()
          : List.of("the table belongs to " + TableOwner.of(observed.owner()));
    }
    // One that was made without cannot get an owner, whatever the kernel.
    return observed.table().filter(NftablesBackend::isAdoptable).isPresent()
        ? List.of("the table has no owner")
        : List.of();
  }

  @Override
  public Outcome apply(Plan plan) {
    if (!(plan.observed() instanceof NftablesObserved observed)) {
      throw new IllegalArgumentException("a plan from another backend's observation");
    }
    try {
      if (observed.owner() != 0 && observed.owner() != kernel.port()) {
        return new Outcome.Refused(
            new Failure(
                TableNames.TABLE + " belongs to " + TableOwner.of(observed.owner()),
                "another agent runs on this node: stop one of the two"));
      }
      return plan.desired().isPresent() ? toward(plan.desired().get(), observed) : remove(observed);
    } catch (QueryFailed unanswered) {
      return new Outcome.Refused(unanswered.failure());
    }
  }

  private Outcome toward(Policy policy, NftablesObserved observed) throws QueryFailed {
    if (observed.table().isEmpty()) {
      features = desired; // a new table, a new try
    }
    KernelFeatures.FallbackResult result =
        features.commitWithFallback(tried -> commit(update(policy, observed, tried)));
    features = result.features();
    Outcome outcome = outcome(result.commit());
    if (outcome instanceof Outcome.Applied) {
      boolean large = TableUpdate.exempt(policy).size() > TableUpdate.COUNTED;
      kernel
          .table()
          .ifPresent(
              table ->
                  details = details(table, features.has(KernelFeatures.ELEMENT_COUNTERS) || large));
    }
    return outcome;
  }

  private static TableUpdate update(
      Policy policy, NftablesObserved observed, KernelFeatures features) {
    boolean dormant =
        observed.table().filter(t -> t.flags().contains(Table.Flag.DORMANT)).isPresent();
    boolean adopted =
        features == KernelFeatures.OWNER
            && observed.table().filter(NftablesBackend::isAdoptable).isPresent();
    boolean claim = observed.table().isEmpty() || observed.foreign() || dormant || adopted;
    return TableUpdate.toward(policy, observed, claim, features);
  }

  private Commit commit(TableUpdate update) throws QueryFailed {
    Commit first = kernel.commit(update.first());
    return first instanceof Commit.Committed ? kernel.commit(update.second()) : first;
  }

  private Outcome remove(NftablesObserved observed) throws QueryFailed {
    return outcome(
        kernel.commit(TableUpdate.removal(observed, kernel.holdsOnly(observed.family()))));
  }

  static Outcome outcome(Commit commit) {
    return switch (commit) {
      case Commit.Committed _ -> new Outcome.Applied();
      case Commit.Unclear(var failure) -> new Outcome.Retry(failure.toString());
      case Commit.Rejected refused -> {
        Errno errno = refused.errno();
        // The object to delete is gone, the one to add exists, another process is writing, or the
        // socket buffer overflowed.
        boolean race =
            List.of(Errno.ENOENT, Errno.EEXIST, Errno.EAGAIN, Errno.ENOBUFS).stream()
                .anyMatch(errno::is);
        if (errno.is(Errno.EBUSY)) {
          yield new Outcome.Refused(
              new Failure(
                  "nf_tables: " + refused + ": something of ours is in use",
                  "another program's chain in our table leads to it: nft list table inet"
                      + " ip-masq-agent shows it; delete that chain"));
        }
        yield race
            ? new Outcome.Retry(refused.toString())
            : new Outcome.Refused(QueryFailed.failure(refused.toString(), errno));
      }
    };
  }

  @Override
  public void close() {
    kernel.close();
  }
}
