package ipmasq.policy;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import java.util.AbstractList;
import java.util.BitSet;
import java.util.List;
import java.util.RandomAccess;

/** The destinations of a policy, held in primitive arrays. */
public final class Destinations extends AbstractList<Destination> implements RandomAccess {
  private final Cidrs ranges;
  private final BitSet translated;

  private Destinations(Cidrs ranges, BitSet translated) {
    this.ranges = ranges;
    this.translated = translated;
  }

  /** These ranges, all exempt. */
  public static Destinations exempt(Cidrs ranges) {
    return new Destinations(ranges, new BitSet());
  }

  public static Destinations copyOf(List<Destination> destinations) {
    if (destinations instanceof Destinations packed) {
      return packed;
    }
    Cidrs.Collector ranges = new Cidrs.Collector();
    BitSet translated = new BitSet();
    for (Destination each : destinations) {
      translated.set(ranges.size(), each.treatment() == Treatment.TRANSLATE);
      ranges.add(each.range());
    }
    return new Destinations(Cidrs.copyOf(ranges), translated);
  }

  @Override
  public Destination get(int i) {
    Cidr range = ranges.get(i);
    return new Destination(range, translated.get(i) ? Treatment.TRANSLATE : Treatment.EXEMPT);
  }

  @Override
  public int size() {
    return ranges.size();
  }

  /** Their ranges, whatever happens there. */
  public Cidrs ranges() {
    return ranges;
  }

  /** Whether packets to all of them keep their source. */
  public boolean allExempt() {
    return translated.isEmpty();
  }

  /** The length of the common prefix of both lists. */
  public int sameAtStart(Destinations other) {
    int same = ranges.sameAtStart(other.ranges);
    for (int i = 0; i < same && !(allExempt() && other.allExempt()); i++) {
      if (translated.get(i) != other.translated.get(i)) {
        return i;
      }
    }
    return same;
  }

  /** The length of the common suffix of both lists, not counting the first {@code start}. */
  public int sameAtEnd(Destinations other, int start) {
    int same = ranges.sameAtEnd(other.ranges, start);
    for (int i = 1; i <= same && !(allExempt() && other.allExempt()); i++) {
      if (translated.get(size() - i) != other.translated.get(other.size() - i)) {
        return i - 1;
      }
    }
    return same;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Destinations packed
        ? ranges.equals(packed.ranges) && translated.equals(packed.translated)
        : super.equals(other);
  }

  @Override
  public int hashCode() {
    return super.hashCode();
  }
}
