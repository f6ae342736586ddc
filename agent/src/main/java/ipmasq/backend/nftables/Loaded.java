package ipmasq.backend.nftables;

import ipmasq.hook.Condition;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import ipmasq.netlink.nftables.Bitwise;
import ipmasq.netlink.nftables.Fib;
import ipmasq.netlink.nftables.Meta;
import ipmasq.netlink.nftables.Payload;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * What a register of nf_tables holds of a packet, and what it means to ask about it. Where it means
 * nothing that is known here, there is no condition.
 *
 * @param mask the bits that were kept; nothing: all
 */
record Loaded(What what, Optional<byte[]> mask) {
  static final Loaded OTHER = of(What.OTHER);

  /** What a rule may look at. */
  enum What {
    SOURCE,
    DESTINATION,
    PROTOCOL,
    PORT,
    MARK,
    OUT,
    FAMILY,
    LOCAL,
    OTHER
  }

  private static Loaded of(What what) {
    return new Loaded(what, Optional.empty());
  }

  static Loaded of(Payload payload, Family family) {
    int offset = payload.offset();
    int length = payload.length();
    return of(
        switch (payload.base()) {
          case TRANSPORT -> offset == 2 && length == 2 ? What.PORT : What.OTHER;
          case NETWORK -> network(family, offset, length);
          case LINK, INNER -> What.OTHER;
        });
  }

  /** nft loads only the bytes that a prefix of whole bytes asks about. */
  private static What network(Family family, int offset, int length) {
    return switch (family) {
      case IPV4 ->
          offset == 12 && length <= 4
              ? What.SOURCE
              : offset == 16 && length <= 4
                  ? What.DESTINATION
                  : offset == 9 && length == 1 ? What.PROTOCOL : What.OTHER;
      case IPV6 ->
          offset == 8 && length <= 16 && length > 1
              ? What.SOURCE
              : offset == 24 && length <= 16
                  ? What.DESTINATION
                  : offset == 6 && length == 1 ? What.PROTOCOL : What.OTHER;
    };
  }

  static Loaded of(Meta.Key key) {
    return of(
        switch (key) {
          case NFPROTO -> What.FAMILY;
          case L4PROTO -> What.PROTOCOL;
          case MARK -> What.MARK;
          case OIFNAME -> What.OUT;
          case PROTOCOL, IIF, OIF, IIFNAME -> What.OTHER;
        });
  }

  static Loaded of(Fib fib) {
    return of(
        fib.result() == Fib.Result.TYPE && fib.flags().contains(Fib.Flag.DADDR)
            ? What.LOCAL
            : What.OTHER);
  }

  Loaded masked(Bitwise bitwise) {
    for (byte b : bitwise.xor().bytes()) {
      if (b != 0) {
        return OTHER;
      }
    }
    return new Loaded(what, Optional.of(bitwise.mask().bytes()));
  }

  boolean isFamily() {
    return what == What.FAMILY;
  }

  /** Whether it is the source address, all of it. */
  boolean isSource() {
    return what == What.SOURCE && mask.isEmpty();
  }

  boolean isAddress() {
    return what == What.SOURCE || what == What.DESTINATION;
  }

  /** That it is this. */
  Optional<Condition> is(byte[] bytes, Family family) {
    if (mask.isPresent() && !isAddress() && what != What.MARK) {
      return none();
    }
    return switch (what) {
      case SOURCE -> block(bytes, family).map(Condition::source);
      case DESTINATION -> block(bytes, family).map(Condition::destination);
      case PROTOCOL ->
          bytes.length == 1 ? Optional.of(new Condition.Protocol(protocol(bytes[0]))) : none();
      case PORT -> ports(bytes, bytes);
      case MARK ->
          Optional.of(
              new Condition.Mark(number(bytes), mask.map(Loaded::number).orElse(0xffff_ffffL)));
      case OUT -> Optional.of(new Condition.Out(List.of(name(bytes))));
      case LOCAL ->
          bytes.length == 4 && number(bytes) == 2
              ? Optional.of(new Condition.LocalDestination())
              : none();
      case FAMILY, OTHER -> none();
    };
  }

  /** That it is one of those from the first to the last. */
  Optional<Condition> isBetween(byte[] first, byte[] last, Family family) {
    if (what == What.PORT) {
      return mask.isPresent() ? none() : ports(first, last);
    }
    boolean addresses = first.length == family.bytes() && last.length == family.bytes();
    return addresses && Ip.ofBytes(first).compareTo(Ip.ofBytes(last)) <= 0
        ? isIn(List.of(new IpRange(Ip.ofBytes(first), Ip.ofBytes(last))))
        : none();
  }

  /** That it is an address in one of these. */
  Optional<Condition> isIn(List<IpRange> ranges) {
    if (mask.isPresent()) {
      return none();
    }
    return switch (what) {
      case SOURCE -> Optional.of(new Condition.Source(ranges));
      case DESTINATION -> Optional.of(new Condition.Destination(ranges));
      case PROTOCOL, PORT, MARK, OUT, FAMILY, LOCAL, OTHER -> none();
    };
  }

  private static Optional<Condition> none() {
    return Optional.empty();
  }

  /** An address with the mask's length, or the beginning of one. */
  private Optional<Cidr> block(byte[] bytes, Family family) {
    int prefix = bytes.length * 8;
    if (mask.isPresent()) {
      prefix = length(mask.get());
      if (prefix < 0) {
        return Optional.empty();
      }
    }
    byte[] whole = new byte[family.bytes()];
    if (bytes.length > whole.length) {
      return Optional.empty();
    }
    System.arraycopy(bytes, 0, whole, 0, bytes.length);
    try {
      return Optional.of(new Cidr(Ip.ofBytes(whole), prefix));
    } catch (IllegalArgumentException bitsBeyondTheMask) {
      return Optional.empty();
    }
  }

  /** How many leading ones; -1 where ones follow a zero. */
  private static int length(byte[] mask) {
    int length = 0;
    boolean ended = false;
    for (int i = 0; i < mask.length * 8; i++) {
      boolean one = (mask[i / 8] >> 7 - i % 8 & 1) == 1;
      if (one && ended) {
        return -1;
      }
      ended |= !one;
      length += one ? 1 : 0;
    }
    return length;
  }

  private static Optional<Condition> ports(byte[] first, byte[] last) {
    return port(first) > 0 && port(last) >= port(first)
        ? Optional.of(new Condition.Port(List.of(new PortRange(port(first), port(last)))))
        : none();
  }

  private static int port(byte[] bytes) {
    return bytes.length == 2 ? (bytes[0] & 0xff) << 8 | bytes[1] & 0xff : -1;
  }

  private static long number(byte[] bytes) {
    return bytes.length == 4
        ? ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).getInt() & 0xffff_ffffL
        : -1;
  }

  private static String protocol(byte number) {
    return switch (number) {
      case 1 -> "icmp";
      case 6 -> "tcp";
      case 17 -> "udp";
      case 58 -> "icmpv6";
      case (byte) 132 -> "sctp";
      default -> "protocol " + (number & 0xff);
    };
  }

  /** A name, or the beginning of one where the kernel compares fewer bytes. */
  private static String name(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    int end = text.indexOf('\0');
    return end < 0 ? text + "+" : text.substring(0, end);
  }
}
