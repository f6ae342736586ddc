package ipmasq.backend.nftables;

import ipmasq.net.Cidrs;
import ipmasq.netlink.Errno;
import ipmasq.netlink.nftables.Commit;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.netlink.nftables.Table;
import java.util.Optional;

/**
 * Optional features of our table that older kernels refuse. The kernel's version is not checked:
 * after a refusal the newest feature is dropped first.
 *
 * @param owner an owner that the table outlives (kernel 6.9). A plain owner (5.12) would take the
 *     rules with it when it dies, so it is not used
 * @param elementCounters a counter for each element of a set (5.12)
 * @param comments comments of table and sets (5.10 and older ones); those of rules exist on every
 *     supported kernel and identify the rules
 */
record KernelFeatures(boolean owner, boolean elementCounters, boolean comments) {
  static final KernelFeatures ALL = new KernelFeatures(true, true, true);

  KernelFeatures withoutOwner() {
    return new KernelFeatures(false, elementCounters, comments);
  }

  /** All of these except the newest; empty if none is left. */
  Optional<KernelFeatures> fewer() {
    if (owner) {
      return Optional.of(withoutOwner());
    }
    if (elementCounters) {
      return Optional.of(new KernelFeatures(false, false, comments));
    }
    return comments ? Optional.of(new KernelFeatures(false, false, false)) : Optional.empty();
  }

  /** Our table, to create or adopt. */
  Table table() {
    Table table = comments ? TableNames.TABLE : TableNames.TABLE.commented("");
    return owner ? table.with(Table.Flag.OWNER, Table.Flag.PERSIST) : table;
  }

  /** A set to create for this content, with a counter per element unless it is large. */
  NftSet set(NftSet set, Cidrs content) {
    NftSet plain = comments ? set : set.commented("");
    boolean counted = elementCounters && content.size() <= TableUpdate.COUNTED;
    return counted ? plain.withCounters() : plain;
  }

  /** A transaction whose content depends on the kernel's features. */
  interface FallbackCommit {
    Commit with(KernelFeatures features) throws QueryFailed;
  }

  /**
   * The result of a transaction.
   *
   * @param features those that worked, or the original ones if none did
   */
  record FallbackResult(KernelFeatures features, Commit commit) {}

  /** Commits; on EINVAL or EOPNOTSUPP again, each time without the newest feature. */
  FallbackResult commitWithFallback(FallbackCommit attempt) throws QueryFailed {
    Commit first = attempt.with(this);
    Commit commit = first;
    KernelFeatures tried = this;
    while (isUnknown(commit)) {
      Optional<KernelFeatures> fewer = tried.fewer();
      if (fewer.isEmpty()) {
        return new FallbackResult(this, first); // it was something else
      }
      tried = fewer.get();
      commit = attempt.with(tried);
    }
    return new FallbackResult(tried, commit);
  }

  /** How kernels refuse unknown features. */
  private static boolean isUnknown(Commit commit) {
    return commit instanceof Commit.Rejected refused
        && (refused.errno().is(Errno.EINVAL) || refused.errno().is(Errno.EOPNOTSUPP));
  }
}
