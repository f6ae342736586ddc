package ipmasq.evidence.neighbours;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** Numbers, such as addresses or ports, as sorted disjoint ranges. Immutable. */
record Ranges(List<Range> list) {
  static final Ranges NONE = new Ranges(List.of());

  /** Both ends included. */
  record Range(BigInteger first, BigInteger last) {
    boolean contains(BigInteger number) {
      return first.compareTo(number) <= 0 && number.compareTo(last) <= 0;
    }
  }

  static Ranges of(long first, long last) {
    return new Ranges(List.of(new Range(BigInteger.valueOf(first), BigInteger.valueOf(last))));
  }

  static Ranges of(byte[] first, byte[] last) {
    return union(List.of(new Range(new BigInteger(1, first), new BigInteger(1, last))));
  }

  static Ranges of(Ip ip) {
    return of(ip.bytes(), ip.bytes());
  }

  static Ranges of(IpRange range) {
    return of(range.first().bytes(), range.last().bytes());
  }

  static Ranges of(Collection<Cidr> blocks) {
    return union(blocks.stream().map(block -> of(IpRange.of(block)).list.getFirst()).toList());
  }

  /** All numbers of these ranges, which may overlap. */
  static Ranges union(Collection<Range> ranges) {
    List<Range> sorted = new ArrayList<>(ranges);
    sorted.removeIf(range -> range.first.compareTo(range.last) > 0);
    sorted.sort(Comparator.comparing(Range::first));
    List<Range> apart = new ArrayList<>(sorted.size());
    for (Range next : sorted) {
      Range last = apart.isEmpty() ? null : apart.getLast();
      if (last == null || last.last.add(BigInteger.ONE).compareTo(next.first) < 0) {
        apart.add(next);
      } else if (next.last.compareTo(last.last) > 0) {
        apart.set(apart.size() - 1, new Range(last.first, next.last));
      }
    }
    return new Ranges(List.copyOf(apart));
  }

  Ranges or(Ranges other) {
    List<Range> all = new ArrayList<>(list);
    all.addAll(other.list);
    return union(all);
  }

  boolean isEmpty() {
    return list.isEmpty();
  }

  boolean isSingle() {
    return list.size() == 1 && list.getFirst().first.equals(list.getFirst().last);
  }

  /** One of the numbers. */
  BigInteger any() {
    return list.getFirst().first;
  }

  boolean contains(BigInteger number) {
    int at = firstNotBefore(number);
    return at < list.size() && list.get(at).contains(number);
  }

  boolean within(Ranges other) {
    return minus(other).isEmpty();
  }

  boolean meets(Ranges other) {
    return !and(other).isEmpty();
  }

  Ranges and(Ranges other) {
    List<Range> both = new ArrayList<>();
    for (Range range : list) {
      for (int at = other.firstNotBefore(range.first);
          at < other.list.size() && other.list.get(at).first.compareTo(range.last) <= 0;
          at++) {
        Range it = other.list.get(at);
        both.add(new Range(range.first.max(it.first), range.last.min(it.last)));
      }
    }
    return both.equals(list) ? this : new Ranges(List.copyOf(both));
  }

  Ranges minus(Ranges other) {
    List<Range> left = new ArrayList<>();
    for (Range range : list) {
      BigInteger from = range.first;
      for (int at = other.firstNotBefore(range.first);
          at < other.list.size() && other.list.get(at).first.compareTo(range.last) <= 0;
          at++) {
        Range it = other.list.get(at);
        if (it.first.compareTo(from) > 0) {
          left.add(new Range(from, it.first.subtract(BigInteger.ONE)));
        }
        from = it.last.add(BigInteger.ONE);
      }
      if (from.compareTo(range.last) <= 0) {
        left.add(new Range(from, range.last));
      }
    }
    return left.equals(list) ? this : new Ranges(List.copyOf(left));
  }

  private int firstNotBefore(BigInteger number) {
    int low = 0;
    int high = list.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (list.get(middle).last.compareTo(number) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  static Ip address(BigInteger number, Family family) {
    byte[] bytes = number.toByteArray();
    byte[] all = new byte[family.bytes()];
    int length = Math.min(bytes.length, all.length);
    System.arraycopy(bytes, bytes.length - length, all, all.length - length, length);
    return Ip.ofBytes(all);
  }

  static IpRange addresses(Range range, Family family) {
    return new IpRange(address(range.first, family), address(range.last, family));
  }

  /** The number as a key of a set has it. */
  static byte[] bytes(BigInteger number, int length) {
    byte[] bytes = number.toByteArray();
    byte[] all = new byte[length];
    int count = Math.min(bytes.length, length);
    System.arraycopy(bytes, bytes.length - count, all, length - count, count);
    return Arrays.copyOf(all, length);
  }
}
