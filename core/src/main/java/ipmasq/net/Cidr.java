package ipmasq.net;

import java.util.Optional;

/** A block of addresses: a network and the number of leading bits its addresses share. */
public record Cidr(Ip network, int prefix) implements Comparable<Cidr> {
  private static final Cidr V4_MAPPED = new Cidr(Ip.of("::ffff:0:0"), 96);

  public Cidr {
    if (prefix < 0 || prefix > network.family().bits() || !network.masked(prefix).equals(network)) {
      throw new IllegalArgumentException("not a CIDR block: " + network + "/" + prefix);
    }
  }

  /** The result of parsing a CIDR block. */
  public sealed interface Parsed {
    /** A block. */
    record Block(Cidr cidr) implements Parsed {}

    /** An address and a length, but the address has bits beyond the length. */
    record Misaligned(Ip ip, Cidr network) implements Parsed {}

    /** {@code ::ffff:a.b.c.d}: written as IPv6, meant as IPv4, and matched by neither. */
    record V4Mapped() implements Parsed {}

    /** Not {@code address/length} at all. */
    record Malformed() implements Parsed {}
  }

  /**
   * Reads {@code address/length}; the length may have leading zeros and is decimal all the same.
   */
  public static Parsed parse(String text) {
    int slash = text.indexOf('/');
    if (slash < 0) {
      return new Parsed.Malformed();
    }
    Optional<Ip> ip = Ip.parse(text.substring(0, slash));
    if (ip.isEmpty()) {
      return new Parsed.Malformed();
    }
    int prefix = decimal(text, slash + 1, ip.get().family().bits());
    if (prefix < 0) {
      return new Parsed.Malformed();
    }
    Cidr network = around(ip.get(), prefix);
    if (prefix >= V4_MAPPED.prefix && V4_MAPPED.contains(ip.get())) {
      return new Parsed.V4Mapped();
    }
    return network.network.equals(ip.get())
        ? new Parsed.Block(network)
        : new Parsed.Misaligned(ip.get(), network);
  }

  private static int decimal(String text, int from, int max) {
    int value = from == text.length() ? -1 : 0;
    for (int i = from; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < '0' || c > '9' || (value = value * 10 + c - '0') > max) {
        return -1;
      }
    }
    return value;
  }

  /** The block that a constant spells. */
  public static Cidr of(String text) {
    return parse(text) instanceof Parsed.Block(var cidr) ? cidr : bad(text);
  }

  /** The block of this length that an address lies in. */
  public static Cidr around(Ip ip, int prefix) {
    return new Cidr(ip.masked(prefix), prefix);
  }

  private static Cidr bad(String text) {
    throw new IllegalArgumentException("not a CIDR block: " + text);
  }

  public Family family() {
    return network.family();
  }

  public Ip first() {
    return network;
  }

  public Ip last() {
    return network.filled(prefix);
  }

  public boolean contains(Ip ip) {
    return ip.family() == family() && ip.masked(prefix).equals(network);
  }

  public boolean contains(Cidr other) {
    return other.prefix >= prefix && contains(other.network);
  }

  /** By network, the wider block first: a block comes right before those it contains. */
  @Override
  public int compareTo(Cidr other) {
    int byNetwork = network.compareTo(other.network);
    return byNetwork != 0 ? byNetwork : Integer.compare(prefix, other.prefix);
  }

  @Override
  public String toString() {
    return network + "/" + prefix;
  }
}
