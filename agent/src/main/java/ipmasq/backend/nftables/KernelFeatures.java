package ipmasq.backend.nftables;

import ipmasq.net.Cidrs;
import ipmasq.netlink.Errno;
import ipmasq.netlink.nftables.Commit;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.netlink.nftables.Table;

/**
 * Optional features of our table that older kernels refuse, each with those before it. The kernel's
 * version is not checked: after a refusal the newest feature is dropped first.
 */
enum KernelFeatures {
  /** Without any; comments of rules, which identify them, exist on every supported kernel. */
  NONE,
  /** Comments of table and sets: 5.10. */
  COMMENTS,
  /** A counter for each element of a set: 5.12. */
  ELEMENT_COUNTERS,
  /**
   * An owner that the table outlives: 6.9. A plain owner (5.12) would take the rules with it when
   * it dies, so it is not used.
   */
  OWNER;

  boolean has(KernelFeatures feature) {
    return compareTo(feature) >= 0;
  }

  /** Our table, to create or adopt. */
  Table table() {
    Table table = has(COMMENTS) ? TableNames.TABLE : TableNames.TABLE.commented("");
    return has(OWNER) ? table.with(Table.Flag.OWNER, Table.Flag.PERSIST) : table;
  }

  /** A set to create for this content, with a counter per element unless it is large. */
  NftSet set(NftSet set, Cidrs content) {
    NftSet plain = has(COMMENTS) ? set : set.commented("");
    boolean counted = has(ELEMENT_COUNTERS) && content.size() <= TableUpdate.COUNTED;
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
      if (tried == NONE) {
        return new FallbackResult(this, first); // it was something else
      }
      tried = values()[tried.ordinal() - 1];
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
