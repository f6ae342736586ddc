package ipmasq.hook;

import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Addresses of one family, as sorted disjoint ranges. Immutable. */
public final class AddressRanges {
  private final List<IpRange> list;

  private AddressRanges(List<IpRange> list) {
    this.list = list;
  }

  public static AddressRanges of(Collection<IpRange> ranges) {
    List<IpRange> sorted = new ArrayList<>(ranges);
    sorted.sort(Comparator.comparing(IpRange::first));
    List<IpRange> apart = new ArrayList<>(sorted.size());
    for (IpRange next : sorted) {
      IpRange last = apart.isEmpty() ? null : apart.getLast();
      boolean touches =
          last != null
              && last.last().next().map(after -> after.compareTo(next.first()) >= 0).orElse(true);
      if (last == null || !touches) {
        apart.add(next);
      } else if (next.last().compareTo(last.last()) > 0) {
        apart.set(apart.size() - 1, new IpRange(last.first(), next.last()));
      }
    }
    return new AddressRanges(List.copyOf(apart));
  }

  public static AddressRanges ofBlocks(List<Cidr> blocks) {
    return of(blocks.stream().map(IpRange::of).toList());
  }

  public static AddressRanges of(IpRange range) {
    return new AddressRanges(List.of(range));
  }

  public List<IpRange> list() {
    return list;
  }

  /** The address, if there is exactly one. */
  Optional<Ip> single() {
    return list.size() == 1 && list.getFirst().first().equals(list.getFirst().last())
        ? Optional.of(list.getFirst().first())
        : Optional.empty();
  }

  /** Whether all of these addresses are in here, or none. */
  Truth hold(IpRange range) {
    int at = firstNotBefore(range.first());
    if (at == list.size() || list.get(at).first().compareTo(range.last()) > 0) {
      return Truth.NO;
    }
    return list.get(at).contains(range.first()) && list.get(at).contains(range.last())
        ? Truth.YES
        : Truth.MAYBE;
  }

  /** The same for several ranges. */
  Truth hold(AddressRanges ranges) {
    boolean some = false;
    boolean all = true;
    for (IpRange range : ranges.list) {
      Truth truth = hold(range);
      some |= truth != Truth.NO;
      all &= truth == Truth.YES;
      if (some && !all) {
        return Truth.MAYBE;
      }
    }
    return all && some ? Truth.YES : Truth.NO;
  }

  /** The index of the first range that does not end before an address. */
  private int firstNotBefore(Ip ip) {
    int low = 0;
    int high = list.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (list.get(middle).last().compareTo(ip) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof AddressRanges ranges && list.equals(ranges.list);
  }

  @Override
  public int hashCode() {
    return Objects.hash(list);
  }

  @Override
  public String toString() {
    return list.toString();
  }
}
