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
  public sealed interface ParsedCidr {
    /** A block. */
    record Block(Cidr cidr) implements ParsedCidr {}

    /** An address and a length, but the address has bits beyond the length. */
    record Misaligned(Ip ip, Cidr network) implements ParsedCidr {}

    /** {@code ::ffff:a.b.c.d}: written as IPv6, meant as IPv4, and matched by neither. */
    record V4Mapped() implements ParsedCidr {}

    /** Not {@code address/length} at all. */
    record MalformedCidr() implements ParsedCidr {}
  }

  /**
   * Reads {@code address/length}; the length may have leading zeros and is decimal all the same.
   */
  public static ParsedCidr parse(String text) {
    int slash = text.indexOf('/');
    if (slash < 0) {
      return new ParsedCidr.MalformedCidr();
    }
    Optional<Ip> ip = Ip.parse(text.substring(0, slash));
    if (ip.isEmpty()) {
      return new ParsedCidr.MalformedCidr();
    }
    int prefix = decimal(text, slash + 1, ip.get().family().bits());
    if (prefix < 0) {
      return new ParsedCidr.MalformedCidr();
    }
    Cidr network = new Cidr(ip.get().masked(prefix), prefix);
    if (prefix >= V4_MAPPED.prefix && V4_MAPPED.contains(ip.get())) {
      return new ParsedCidr.V4Mapped();
    }
    return network.network.equals(ip.get())
        ? new ParsedCidr.Block(network)
        : new ParsedCidr.Misaligned(ip.get(), network);
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
    return parse(text) instanceof ParsedCidr.Block(var cidr) ? cidr : bad(text);
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
