package ipmasq.backend.nftables;

import ipmasq.net.Cidrs;
import ipmasq.netlink.Errno;
import ipmasq.netlink.nftables.Commit;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.netlink.nftables.Table;
import java.util.Optional;

/**
 * What our table can do without, because older kernels refuse it. Nobody asks for the kernel's
 * version: a refusal tells, and the newest feature is left out first.
 *
 * @param owner an owner that the table outlives (kernel 6.9). An owner alone (5.12) would take the
 *     rules along when it dies, so without the one there is not the other
 * @param elementCounters a counter for each element of a set (5.12)
 * @param comments comments of table and sets (5.10 and older ones); those of rules are older than
 *     all that we run on, and tell the rules apart
 */
record KernelFeatures(boolean owner, boolean elementCounters, boolean comments) {
  static final KernelFeatures ALL = new KernelFeatures(true, true, true);

  KernelFeatures withoutOwner() {
    return new KernelFeatures(false, elementCounters, comments);
  }

  /** All of these but the newest; empty if none is left. */
  Optional<KernelFeatures> fewer() {
    if (owner) {
      return Optional.of(withoutOwner());
    }
    if (elementCounters) {
      return Optional.of(new KernelFeatures(false, false, comments));
    }
    return comments ? Optional.of(new KernelFeatures(false, false, false)) : Optional.empty();
  }

  /** Our table, to be made or taken over. */
  Table table() {
    Table table = comments ? TableNames.TABLE : TableNames.TABLE.commented("");
    return owner ? table.with(Table.TableFlag.OWNER, Table.TableFlag.PERSIST) : table;
  }

  /** A set, to be made for this content, each element of which counts. */
  NftSet set(NftSet set, Cidrs content) {
    boolean counted = elementCounters && content.size() <= TableUpdate.COUNTED;
    return counted ? uncounted(set).withCounters() : uncounted(set);
  }

  /** A set, to be made, whose elements do not count. */
  NftSet uncounted(NftSet set) {
    return comments ? set : set.commented("");
  }

  /** A transaction that depends on what the kernel knows. */
  interface Attempt {
    Commit with(KernelFeatures features) throws QueryFailed;
  }

  /**
   * What came of a transaction.
   *
   * @param features those that it was made with, or those that were there before where none helped
   */
  record Learned(KernelFeatures features, Commit commit) {}

  /** Makes the transaction with as many of these features as the kernel takes. */
  Learned learn(Attempt attempt) throws QueryFailed {
    Commit first = attempt.with(this);
    Commit commit = first;
    KernelFeatures tried = this;
    while (isUnknown(commit)) {
      Optional<KernelFeatures> fewer = tried.fewer();
      if (fewer.isEmpty()) {
        return new Learned(this, first); // it was something else
      }
      tried = fewer.get();
      commit = attempt.with(tried);
    }
    return new Learned(tried, commit);
  }

  /** How kernels refuse what they do not know. */
  private static boolean isUnknown(Commit commit) {
    return commit instanceof Commit.Rejected refused
        && (refused.errno().is(Errno.EINVAL) || refused.errno().is(Errno.EOPNOTSUPP));
  }
}
