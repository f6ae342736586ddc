package ipmasq.net;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Addresses from {@code first} to {@code last}, both included, of one family. */
public record IpRange(Ip first, Ip last) {
  public IpRange {
    if (!isRange(first, last)) {
      throw new IllegalArgumentException("not a range: " + first + "-" + last);
    }
  }

  /** Reads {@code address} or {@code first-last}. */
  public static Optional<IpRange> parse(String text) {
    int dash = text.indexOf('-');
    Optional<Ip> first = Ip.parse(dash < 0 ? text : text.substring(0, dash));
    Optional<Ip> last = dash < 0 ? first : Ip.parse(text.substring(dash + 1));
    return first.isPresent() && last.isPresent() && isRange(first.get(), last.get())
        ? Optional.of(new IpRange(first.get(), last.get()))
        : Optional.empty();
  }

  /** The range that a constant spells. */
  public static IpRange of(String text) {
    return parse(text).orElseThrow(() -> new IllegalArgumentException("not a range: " + text));
  }

  private static boolean isRange(Ip first, Ip last) {
    return first.family() == last.family() && first.compareTo(last) <= 0;
  }

  public static IpRange of(Cidr cidr) {
    return new IpRange(cidr.first(), cidr.last());
  }

  public Family family() {
    return first.family();
  }

  public boolean contains(Ip ip) {
    return ip.family() == family() && first.compareTo(ip) <= 0 && ip.compareTo(last) <= 0;
  }

  /** The one block that is this range, if there is one. */
  public Optional<Cidr> block() {
    // The two ends of a block differ only in trailing bits: all zero in the first, all one in the
    // last.
    long high = first.high() ^ last.high();
    long low = first.low() ^ last.low();
    boolean aligned =
        (first.high() & high) == 0
            && (first.low() & low) == 0
            && (high == 0 ? (low & low + 1) == 0 : low == -1 && (high & high + 1) == 0);
    return aligned
        ? Optional.of(new Cidr(first, family().bits() - Long.bitCount(high) - Long.bitCount(low)))
        : Optional.empty();
  }

  /** The fewest blocks that together cover exactly this range, in order. */
  public List<Cidr> blocks() {
    Optional<Cidr> one = block();
    if (one.isPresent()) {
      return List.of(one.get());
    }
    List<Cidr> blocks = new ArrayList<>();
    Ip at = first;
    while (true) {
      Cidr block = widestFrom(at);
      blocks.add(block);
      if (block.last().equals(last)) {
        return blocks;
      }
      at = block.last().next().orElseThrow();
    }
  }

  private Cidr widestFrom(Ip start) {
    int prefix = family().bits();
    while (prefix > 0
        && start.masked(prefix - 1).equals(start)
        && start.filled(prefix - 1).compareTo(last) <= 0) {
      prefix--;
    }
    return new Cidr(start, prefix);
  }

  @Override
  public String toString() {
    return first.equals(last) ? first.toString() : first + "-" + last;
  }
}
