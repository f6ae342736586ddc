package ipmasq.backend.nftables;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.IpRange;
import ipmasq.netlink.nftables.Batch;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.netlink.nftables.Ranges;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.Table;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The transactions that lead from what is held to a policy.
 *
 * <p>A new set is filled in a first one, and used by rules only in a second: where both come in
 * one, packets meet the rules for a moment before the set answers. A set that is in use is changed
 * in place, range by range. Nothing is ever deleted to be made again, so there is no moment in
 * which a packet finds less than the old or the new policy.
 */
record Update(Batch first, Batch second) {
  /** Sets up to this size count each of their ranges; above, that would cost too much memory. */
  static final int COUNTED = 4096;

  /**
   * The steps toward a policy in the form that {@link Policy#disjoint} gives it.
   *
   * @param claim the table to make, or to become the owner of; empty: it is ours already
   */
  static Update toward(Policy policy, Held held, Optional<Table> claim) {
    Family family = policy.family();
    Batch first = new Batch();
    Batch second = new Batch();
    claim.ifPresent(first::add);
    set(Names.exempt(family), held.exempt(), ranges(policy.exempt()), first, second);
    if (!policy.sources().isEmpty()) {
      set(Names.sources(family), held.sources(), ranges(policy.sources()), first, second);
    }
    rules(policy, held, second);
    if (policy.sources().isEmpty() && held.sources().isPresent()) {
      second.delete(Names.sources(family));
    }
    return new Update(first, second);
  }

  /**
   * The step that removes a family.
   *
   * @param last whether nothing else is in the table, so that it goes too
   */
  static Update removal(Held held, boolean last) {
    Batch batch = new Batch();
    if (last) {
      batch.delete(Names.TABLE);
    } else {
      held.chain().ifPresent(batch::delete);
      held.exempt().ifPresent(_ -> batch.delete(Names.exempt(held.family())));
      held.sources().ifPresent(_ -> batch.delete(Names.sources(held.family())));
    }
    return new Update(new Batch(), batch);
  }

  private static void set(
      NftSet set, Optional<List<IpRange>> held, List<IpRange> wanted, Batch first, Batch second) {
    if (held.isEmpty()) {
      first.add(wanted.size() <= COUNTED ? set.withCounters() : set);
      first.add(set, iterate(wanted));
      return;
    }
    List<IpRange> gone = new ArrayList<>();
    List<IpRange> come = new ArrayList<>();
    difference(held.get(), wanted, gone, come);
    second.delete(set, iterate(gone));
    second.add(set, iterate(come));
  }

  private static void rules(Policy policy, Held held, Batch batch) {
    List<Rule> wanted = Layout.rules(policy);
    Chain chain = Names.chain(policy.family());
    if (held.chain().isPresent() && Decoder.same(wanted, held.rules())) {
      return;
    }
    if (held.chain().isPresent() && !held.chain().get().base().equals(chain.base())) {
      batch.delete(chain); // where it is hooked cannot be changed
    }
    batch.add(chain).flush(chain);
    wanted.forEach(batch::add);
  }

  /** What is in one of two sorted lists only. */
  private static void difference(
      List<IpRange> before, List<IpRange> after, List<IpRange> gone, List<IpRange> come) {
    int i = 0;
    int j = 0;
    while (i < before.size() || j < after.size()) {
      int order =
          i == before.size() ? 1 : j == after.size() ? -1 : compare(before.get(i), after.get(j));
      if (order < 0) {
        gone.add(before.get(i++));
      } else if (order > 0) {
        come.add(after.get(j++));
      } else {
        i++;
        j++;
      }
    }
  }

  private static int compare(IpRange a, IpRange b) {
    int byFirst = a.first().compareTo(b.first());
    return byFirst != 0 ? byFirst : a.last().compareTo(b.last());
  }

  static List<IpRange> ranges(List<Cidr> disjoint) {
    List<IpRange> ranges = new ArrayList<>(disjoint.size());
    for (Cidr cidr : disjoint) {
      ranges.add(IpRange.of(cidr));
    }
    return ranges;
  }

  private static Ranges iterate(List<IpRange> ranges) {
    int[] at = {0};
    return (first, last) -> {
      if (at[0] == ranges.size()) {
        return false;
      }
      IpRange range = ranges.get(at[0]++);
      System.arraycopy(range.first().bytes(), 0, first, 0, first.length);
      System.arraycopy(range.last().bytes(), 0, last, 0, last.length);
      return true;
    };
  }
}
