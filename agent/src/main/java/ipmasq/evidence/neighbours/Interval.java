package ipmasq.evidence.neighbours;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import java.math.BigInteger;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;

/** Numbers from the first to the last: addresses, ports, protocols, interfaces. */
record Interval(BigInteger first, BigInteger last) {
  static Interval of(long first, long last) {
    return new Interval(BigInteger.valueOf(first), BigInteger.valueOf(last));
  }

  static Interval of(IpRange range) {
    return new Interval(
        new BigInteger(1, range.first().bytes()), new BigInteger(1, range.last().bytes()));
  }

  static Interval of(Cidr block) {
    return of(IpRange.of(block));
  }

  static Interval of(Ip ip) {
    return of(new IpRange(ip, ip));
  }

  boolean isSingle() {
    return first.equals(last);
  }

  boolean contains(Interval other) {
    return first.compareTo(other.first) <= 0 && other.last.compareTo(last) <= 0;
  }

  boolean meets(Interval other) {
    return first.compareTo(other.last) <= 0 && other.first.compareTo(last) <= 0;
  }

  /** The same numbers, sorted and disjoint. */
  static List<Interval> merged(Collection<Interval> intervals) {
    List<Interval> merged = new ArrayList<>();
    for (Interval next :
        intervals.stream().sorted(Comparator.comparing(Interval::first)).toList()) {
      Interval last = merged.isEmpty() ? null : merged.getLast();
      if (last == null || last.last.add(BigInteger.ONE).compareTo(next.first) < 0) {
        merged.add(next);
      } else if (next.last.compareTo(last.last) > 0) {
        merged.set(merged.size() - 1, new Interval(last.first, next.last));
      }
    }
    return merged;
  }

  /** A view of a list. */
  static <T> List<Interval> view(List<T> list, Function<T, Interval> each) {
    return new AbstractList<>() {
      @Override
      public Interval get(int i) {
        return each.apply(list.get(i));
      }

      @Override
      public int size() {
        return list.size();
      }
    };
  }

  /** The index of the first of these, sorted and disjoint, that does not end before this begins. */
  int firstIn(List<Interval> sorted) {
    int low = 0;
    int high = sorted.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (sorted.get(middle).last.compareTo(first) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  boolean meetsAny(List<Interval> sorted) {
    int at = firstIn(sorted);
    return at < sorted.size() && sorted.get(at).meets(this);
  }

  /** Whether these, sorted and disjoint, together contain all of it. */
  boolean isWithin(List<Interval> sorted) {
    BigInteger next = first;
    for (int at = firstIn(sorted); at < sorted.size() && next.compareTo(last) <= 0; at++) {
      if (sorted.get(at).first.compareTo(next) > 0) {
        return false;
      }
      next = sorted.get(at).last.add(BigInteger.ONE);
    }
    return next.compareTo(last) > 0;
  }

  /** The first number as a key of a set has it. */
  byte[] bytes(int length) {
    byte[] bytes = first.toByteArray();
    byte[] all = new byte[length];
    int count = Math.min(bytes.length, length);
    System.arraycopy(bytes, bytes.length - count, all, length - count, count);
    return all;
  }

  IpRange addresses(Family family) {
    return new IpRange(
        Ip.ofBytes(bytes(family.bytes())),
        Ip.ofBytes(new Interval(last, last).bytes(family.bytes())));
  }
}
