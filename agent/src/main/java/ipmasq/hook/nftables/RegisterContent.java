package ipmasq.hook.nftables;

import ipmasq.hook.AddressRanges;
import ipmasq.hook.Condition;
import ipmasq.hook.SetKey;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import ipmasq.net.Protocols;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.nftables.Bitwise;
import ipmasq.netlink.nftables.Cmp;
import ipmasq.netlink.nftables.Ct;
import ipmasq.netlink.nftables.Data;
import ipmasq.netlink.nftables.Fib;
import ipmasq.netlink.nftables.Meta;
import ipmasq.netlink.nftables.Payload;
import ipmasq.netlink.route.RouteQuery;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * What a register of nf_tables holds of a packet, and what comparing it means. Content that cannot
 * be followed is unknown, and so is every comparison with it.
 *
 * @param text what it is, for people
 * @param length in bytes
 * @param mask the bits that were kept; empty: all
 * @param xor the bits that were flipped after that
 */
record RegisterContent(
    What what, String text, int length, Optional<byte[]> mask, Optional<byte[]> xor) {
  /** What a rule may look at. */
  enum What {
    SOURCE,
    DESTINATION,
    PROTOCOL,
    PORT,
    SOURCE_PORT,
    TCP_FLAGS,
    FRAGMENT,
    MARK,
    OUT,
    OUT_INDEX,
    IN,
    IN_INDEX,
    FAMILY,
    ETHERTYPE,
    DESTINATION_TYPE,
    SOURCE_TYPE,
    CT_STATE,
    CT_STATUS,
    CT_DIRECTION,
    /** A constant, which is held in {@code mask}. */
    CONSTANT,
    UNKNOWN
  }

  private static final int RTN_LOCAL = 2;
  private static final int NFPROTO_IPV4 = 2;
  private static final int NFPROTO_IPV6 = 10;
  private static final int ETH_P_IP = 0x0800;
  private static final int ETH_P_IPV6 = 0x86dd;
  private static final int IFNAMSIZ = 16;
  private static final int IP_CT_DIR_ORIGINAL = 0;
  private static final int NF_CT_STATE_BIT_NEW = 8; // NF_CT_STATE_BIT(IP_CT_NEW)

  /**
   * Status bits that are known for the first packet of a connection whose destination is unchanged:
   * {@code IPS_EXPECTED}, {@code IPS_SEEN_REPLY}, {@code IPS_ASSURED}, {@code IPS_CONFIRMED},
   * {@code IPS_SRC_NAT}, {@code IPS_DST_NAT}.
   */
  private static final long IPS_KNOWN = 0x3f;

  /**
   * Where a fragment belongs: connection tracking puts packets together before it looks at them.
   */
  static final long IP_OFFSET = 0x1fff;

  private static RegisterContent of(What what, String text, int length) {
    return new RegisterContent(what, text, length, Optional.empty(), Optional.empty());
  }

  static RegisterContent unknown(String text) {
    return of(What.UNKNOWN, text, 0);
  }

  static RegisterContent constant(Data data) {
    byte[] bytes = data.bytes();
    return new RegisterContent(
        What.CONSTANT, data.toString(), bytes.length, Optional.of(bytes), Optional.empty());
  }

  static RegisterContent of(Payload payload, Family family) {
    int offset = payload.offset();
    int length = payload.length();
    String text = payload.base() + " header, byte " + offset;
    return switch (payload.base()) {
      case TRANSPORT -> transport(offset, length, text);
      case NETWORK -> of(network(family, offset, length), text, length);
      case LINK, INNER -> unknown(text);
    };
  }

  private static RegisterContent transport(int offset, int length, String text) {
    if (length == 2 && offset <= 2) {
      return offset == 2
          ? of(What.PORT, "destination port", 2)
          : offset == 0 ? of(What.SOURCE_PORT, "source port", 2) : unknown(text);
    }
    return length == 1 && offset == 13 ? of(What.TCP_FLAGS, "tcp flags", 1) : unknown(text);
  }

  /** nft loads only the bytes that a prefix of whole bytes asks about. */
  private static What network(Family family, int offset, int length) {
    return switch (family) {
      case IPV4 ->
          offset == 12 && length <= 4
              ? What.SOURCE
              : offset == 16 && length <= 4
                  ? What.DESTINATION
                  : offset == 9 && length == 1
                      ? What.PROTOCOL
                      : offset == 6 && length == 2 ? What.FRAGMENT : What.UNKNOWN;
      case IPV6 ->
          offset == 8 && length <= 16 && length > 1
              ? What.SOURCE
              : offset == 24 && length <= 16
                  ? What.DESTINATION
                  : offset == 6 && length == 1 ? What.PROTOCOL : What.UNKNOWN;
    };
  }

  static RegisterContent of(Meta.MetaKey key) {
    String text = "meta " + key.name().toLowerCase(java.util.Locale.ROOT);
    return switch (key) {
      case NFPROTO -> of(What.FAMILY, text, 1);
      case PROTOCOL -> of(What.ETHERTYPE, text, 2);
      case L4PROTO -> of(What.PROTOCOL, text, 1);
      case MARK -> of(What.MARK, text, 4);
      case OIFNAME -> of(What.OUT, text, IFNAMSIZ);
      case OIF -> of(What.OUT_INDEX, text, 4);
      case IIFNAME -> of(What.IN, text, IFNAMSIZ);
      case IIF -> of(What.IN_INDEX, text, 4);
      case LENGTH,
          PRIORITY,
          IIFTYPE,
          OIFTYPE,
          SKUID,
          SKGID,
          NFTRACE,
          RTCLASSID,
          SECMARK,
          PKTTYPE,
          CPU,
          IIFGROUP,
          OIFGROUP,
          CGROUP,
          PRANDOM,
          SECPATH,
          IIFKIND,
          OIFKIND ->
          unknown(text);
    };
  }

  static RegisterContent of(Ct.CtKey key) {
    return switch (key) {
      case STATE -> of(What.CT_STATE, "ct state", 4);
      case STATUS -> of(What.CT_STATUS, "ct status", 4);
      case DIRECTION -> of(What.CT_DIRECTION, "ct direction", 1);
      case MARK -> unknown("ct mark");
    };
  }

  static RegisterContent of(Fib fib) {
    boolean type = fib.result() == Fib.Result.TYPE;
    if (type && fib.flags().equals(Set.of(Fib.FibFlag.DADDR))) {
      return of(What.DESTINATION_TYPE, "fib daddr type", 4);
    }
    return type && fib.flags().equals(Set.of(Fib.FibFlag.SADDR))
        ? of(What.SOURCE_TYPE, "fib saddr type", 4)
        : unknown("fib");
  }

  RegisterContent masked(Bitwise bitwise) {
    boolean once = mask.isEmpty() && xor.isEmpty();
    boolean fits = bitwise.mask().length() == length;
    return what == What.UNKNOWN || what == What.CONSTANT || !once || !fits
        ? unknown(text)
        : new RegisterContent(
            what,
            text,
            length,
            Optional.of(bitwise.mask().bytes()),
            Optional.of(bitwise.xor().bytes()));
  }

  private boolean isPlain() {
    return mask.isEmpty() && xor.isEmpty();
  }

  /** Whether it is the source address, all of it. */
  boolean isSource(Family family) {
    return what == What.SOURCE && isPlain() && length == family.bytes();
  }

  /** The constant that it is. */
  Optional<byte[]> constant() {
    return what == What.CONSTANT ? mask : Optional.empty();
  }

  /** A mark derived from the packet's own: which bits were kept and which flipped. */
  Optional<long[]> ofMark() {
    if (what != What.MARK) {
      return Optional.empty();
    }
    return Optional.of(
        new long[] {
          mask.map(RegisterContent::number).orElse(0xffff_ffffL),
          xor.map(RegisterContent::number).orElse(0L)
        });
  }

  /** As a part of a key; empty if it is not a known packet property. */
  Optional<SetKey> key(Family family) {
    if (!isPlain()) {
      return Optional.empty();
    }
    return switch (what) {
      case SOURCE -> address(SetKey.KeyPart.SOURCE, family);
      case DESTINATION -> address(SetKey.KeyPart.DESTINATION, family);
      case PROTOCOL -> Optional.of(new SetKey(SetKey.KeyPart.PROTOCOL, 1));
      case PORT -> Optional.of(new SetKey(SetKey.KeyPart.PORT, 2));
      case OUT -> Optional.of(new SetKey(SetKey.KeyPart.OUT, IFNAMSIZ));
      default -> Optional.empty();
    };
  }

  private Optional<SetKey> address(SetKey.KeyPart part, Family family) {
    return length == family.bytes() ? Optional.of(new SetKey(part, length)) : Optional.empty();
  }

  /** How it compares to a constant. */
  Condition compared(Cmp.Operator operator, byte[] bytes, Family family) {
    return switch (operator) {
      case EQ -> is(bytes, family);
      case NEQ -> not(is(bytes, family));
      case LT -> not(between(bytes, filled(bytes.length, 0xff), family));
      case LTE -> between(filled(bytes.length, 0), bytes, family);
      case GT -> not(between(filled(bytes.length, 0), bytes, family));
      case GTE -> between(bytes, filled(bytes.length, 0xff), family);
    };
  }

  static Condition not(Condition condition) {
    return condition.equals(Condition.AnyOf.ALWAYS)
        ? Condition.AnyOf.NEVER
        : condition.equals(Condition.AnyOf.NEVER)
            ? Condition.AnyOf.ALWAYS
            : new Condition.Not(condition);
  }

  private static byte[] filled(int length, int with) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) with);
    return bytes;
  }

  private Condition cannotTell() {
    return new Condition.UnknownCondition(text);
  }

  private static Condition constant(boolean holds) {
    return holds ? Condition.AnyOf.ALWAYS : Condition.AnyOf.NEVER;
  }

  /** The condition that it equals a value. */
  Condition is(byte[] bytes, Family family) {
    return switch (what) {
      case SOURCE -> block(bytes, family).map(Condition::source).orElse(cannotTell());
      case DESTINATION -> block(bytes, family).map(Condition::destination).orElse(cannotTell());
      case MARK ->
          bytes.length == 4
              ? new Condition.Mark(
                  number(bytes) ^ xor.map(RegisterContent::number).orElse(0L),
                  mask.map(RegisterContent::number).orElse(0xffff_ffffL))
              : cannotTell();
      case CT_STATE -> bits(bytes, NF_CT_STATE_BIT_NEW, 0xffff_ffffL);
      case CT_STATUS -> bits(bytes, 0, IPS_KNOWN);
      case FRAGMENT -> bits(bytes, 0, IP_OFFSET);
      case PROTOCOL,
          PORT,
          SOURCE_PORT,
          OUT,
          OUT_INDEX,
          IN,
          IN_INDEX,
          FAMILY,
          ETHERTYPE,
          CT_DIRECTION,
          DESTINATION_TYPE,
          SOURCE_TYPE ->
          isPlain() ? plain(bytes, family) : cannotTell();
      case TCP_FLAGS, CONSTANT, UNKNOWN -> cannotTell();
    };
  }

  private Condition plain(byte[] bytes, Family family) {
    return switch (what) {
      case PROTOCOL ->
          bytes.length == 1
              ? new Condition.Protocol(Protocols.name(bytes[0] & 0xff))
              : cannotTell();
      case PORT -> ports(bytes, bytes);
      case SOURCE_PORT ->
          port(bytes) < 0 ? cannotTell() : new Condition.SourcePort("" + port(bytes));
      case OUT -> new Condition.Out(List.of(name(bytes)));
      case IN -> new Condition.In(List.of(name(bytes)));
      case OUT_INDEX -> named(bytes, Condition.Out::new);
      case IN_INDEX -> named(bytes, Condition.In::new);
      case FAMILY ->
          bytes.length == 1
              ? constant(bytes[0] == (family == Family.IPV4 ? NFPROTO_IPV4 : NFPROTO_IPV6))
              : cannotTell();
      case ETHERTYPE ->
          bytes.length == 2
              ? constant(port(bytes) == (family == Family.IPV4 ? ETH_P_IP : ETH_P_IPV6))
              : cannotTell();
      case CT_DIRECTION ->
          bytes.length == 1 ? constant(bytes[0] == IP_CT_DIR_ORIGINAL) : cannotTell();
      case DESTINATION_TYPE ->
          number(bytes) == RTN_LOCAL ? new Condition.LocalDestination() : cannotTell();
      case SOURCE_TYPE -> number(bytes) == RTN_LOCAL ? new Condition.LocalSource() : cannotTell();
      default -> cannotTell();
    };
  }

  /** A number of which some bits are known. */
  private Condition bits(byte[] bytes, long value, long known) {
    if (bytes.length != length) {
      return cannotTell();
    }
    long kept = mask.map(RegisterContent::bits).orElse(0xffff_ffffL);
    long expected = bits(bytes) ^ xor.map(RegisterContent::bits).orElse(0L);
    if (((value ^ expected) & known & kept) != 0 || (expected & ~kept) != 0) {
      return Condition.AnyOf.NEVER;
    }
    return (kept & ~known) == 0 ? Condition.AnyOf.ALWAYS : cannotTell();
  }

  /** Two bytes are of the packet, in network order; four the kernel's own, in host order. */
  private static long bits(byte[] bytes) {
    return bytes.length == 2 ? port(bytes) : number(bytes);
  }

  /** The condition that it lies in a range, ends included. */
  Condition between(byte[] first, byte[] last, Family family) {
    if (Arrays.equals(first, last)) {
      return is(first, family);
    }
    if (!isPlain()) {
      return cannotTell();
    }
    if (what == What.PORT) {
      return ports(first, last);
    }
    if (what == What.SOURCE_PORT && port(first) >= 0 && port(last) >= 0) {
      return new Condition.SourcePort(port(first) + "-" + port(last));
    }
    boolean addresses =
        first.length == family.bytes() && last.length == family.bytes() && length == first.length;
    if (!addresses || Ip.ofBytes(first).compareTo(Ip.ofBytes(last)) > 0) {
      return cannotTell();
    }
    AddressRanges range = AddressRanges.of(new IpRange(Ip.ofBytes(first), Ip.ofBytes(last)));
    return switch (what) {
      case SOURCE -> new Condition.Source(range);
      case DESTINATION -> new Condition.Destination(range);
      default -> cannotTell();
    };
  }

  /** An address with the mask's length, or the beginning of one. */
  private Optional<Cidr> block(byte[] bytes, Family family) {
    int prefix = bytes.length * 8;
    if (mask.isPresent()) {
      prefix = leadingOnes(mask.get());
    }
    boolean turned = xor.isPresent() && !Arrays.equals(xor.get(), new byte[xor.get().length]);
    if (prefix < 0 || turned || bytes.length != length || bytes.length > family.bytes()) {
      return Optional.empty();
    }
    try {
      return Optional.of(new Cidr(Ip.ofBytes(Arrays.copyOf(bytes, family.bytes())), prefix));
    } catch (IllegalArgumentException bitsBeyondTheMask) {
      return Optional.empty();
    }
  }

  /** The number of leading ones; -1 if ones follow a zero. */
  static int leadingOnes(byte[] mask) {
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

  private Condition ports(byte[] first, byte[] last) {
    int from = Math.max(1, port(first)); // nothing goes to port 0
    return first.length == 2 && last.length == 2 && port(last) >= from
        ? new Condition.Port(List.of(new PortRange(from, port(last))))
        : cannotTell();
  }

  static int port(byte[] bytes) {
    return bytes.length == 2 ? (bytes[0] & 0xff) << 8 | bytes[1] & 0xff : -1;
  }

  static long number(byte[] bytes) {
    return bytes.length == 4
        ? ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).getInt() & 0xffff_ffffL
        : -1;
  }

  /** A condition about the interface with this index. */
  private Condition named(byte[] index, Function<List<String>, Condition> condition) {
    try (RouteQuery links = RouteQuery.open()) {
      return links
          .interfaceName((int) number(index))
          .map(name -> condition.apply(List.of(name)))
          .orElse(cannotTell());
    } catch (NetlinkUnavailable unknown) {
      return cannotTell();
    }
  }

  /** A name, or a prefix of one if the kernel compares fewer bytes. */
  static String name(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    int end = text.indexOf('\0');
    return end < 0 ? text + "+" : text.substring(0, end);
  }
}
