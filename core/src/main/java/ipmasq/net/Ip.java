package ipmasq.net;

import java.util.Optional;

/**
 * An address, held as 128 bits: {@code high} and {@code low}; an IPv4 address is the low 32 of
 * them.
 *
 * <p>The JDK's own parser takes {@code 10}, {@code 10.1} and {@code 010.0.0.1} and turns {@code
 * ::ffff:10.0.0.1} into IPv4. A firewall must not guess, so this one is strict.
 */
public record Ip(Family family, long high, long low) implements Comparable<Ip> {
  private static final long V4_MASK = 0xffff_ffffL;

  public Ip {
    if (family == Family.IPV4 && (high != 0 || (low & ~V4_MASK) != 0)) {
      throw new IllegalArgumentException("more than 32 bits in an IPv4 address");
    }
  }

  /** Parses an address; empty if the text is not exactly one. */
  public static Optional<Ip> parse(String text) {
    return text.indexOf(':') >= 0 ? IpText.parseV6(text) : IpText.parseV4(text);
  }

  /** The address that a constant spells. */
  public static Ip of(String text) {
    return parse(text)
        .orElseThrow(() -> new IllegalArgumentException("not an IP address: " + text));
  }

  /** The address in network byte order: 4 or 16 bytes. */
  public static Ip ofBytes(byte[] bytes) {
    return switch (bytes.length) {
      case 4 -> new Ip(Family.IPV4, 0, bigEndian(bytes, 0, 4));
      case 16 -> new Ip(Family.IPV6, bigEndian(bytes, 0, 8), bigEndian(bytes, 8, 8));
      default -> throw new IllegalArgumentException("an address of " + bytes.length + " bytes");
    };
  }

  private static long bigEndian(byte[] bytes, int offset, int length) {
    long value = 0;
    for (int i = 0; i < length; i++) {
      value = value << 8 | bytes[offset + i] & 0xff;
    }
    return value;
  }

  /** The address in network byte order. */
  public byte[] bytes() {
    byte[] bytes = new byte[family.bytes()];
    for (int i = 0; i < bytes.length; i++) {
      int fromEnd = bytes.length - 1 - i;
      bytes[i] = (byte) (fromEnd < 8 ? low >>> 8 * fromEnd : high >>> 8 * (fromEnd - 8));
    }
    return bytes;
  }

  /** The first {@code prefix} bits of this address, the rest zero. */
  public Ip masked(int prefix) {
    return combine(prefix, 0, 0);
  }

  /** The first {@code prefix} bits of this address, the rest one. */
  Ip filled(int prefix) {
    return combine(prefix, -1, -1);
  }

  private Ip combine(int prefix, long fillHigh, long fillLow) {
    // Both families are treated as 128 bits: an IPv4 prefix counts from bit 96.
    int bits = prefix + 128 - family.bits();
    long maskHigh = bits >= 64 ? -1 : bits == 0 ? 0 : -1L << 64 - bits;
    long maskLow = bits >= 128 ? -1 : bits <= 64 ? 0 : -1L << 128 - bits;
    return new Ip(
        family,
        high & maskHigh | fillHigh & ~maskHigh,
        (low & maskLow | fillLow & ~maskLow) & (family == Family.IPV4 ? V4_MASK : -1));
  }

  /** The next address; empty after the last one. */
  public Optional<Ip> next() {
    if (equals(filled(0))) {
      return Optional.empty();
    }
    return Optional.of(new Ip(family, low == -1 ? high + 1 : high, low + 1));
  }

  /** The previous address; empty before the first one. */
  public Optional<Ip> previous() {
    if (high == 0 && low == 0) {
      return Optional.empty();
    }
    return Optional.of(new Ip(family, low == 0 ? high - 1 : high, low - 1));
  }

  /** IPv4 before IPv6, then by value. */
  @Override
  public int compareTo(Ip other) {
    int byFamily = family.compareTo(other.family);
    if (byFamily != 0) {
      return byFamily;
    }
    int byHigh = Long.compareUnsigned(high, other.high);
    return byHigh != 0 ? byHigh : Long.compareUnsigned(low, other.low);
  }

  /** The canonical text: dotted decimal, or RFC 5952. */
  @Override
  public String toString() {
    return IpText.print(this);
  }
}
