package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Loads a packet's metadata. */
public record Meta(int register, MetaKey key) implements Expression {
  static final int HIGHEST = 3;
  private static final int NFTA_META_DREG = 1;
  static final int NFTA_META_KEY = 2;
  static final int NFTA_META_SREG = 3;

  /** What {@link MetaKey#NFPROTO} loads for an IPv4 packet: {@code NFPROTO_IPV4}. */
  public static final Data IPV4 = Data.u8(2);

  /** What {@link MetaKey#NFPROTO} loads for an IPv6 packet: {@code NFPROTO_IPV6}. */
  public static final Data IPV6 = Data.u8(10);

  /** What to load: {@code NFT_META_*}. */
  public enum MetaKey {
    /** {@code NFT_META_LEN}. */
    LENGTH(0, "meta length", Format.HOST),
    /** The ether type. */
    PROTOCOL(1, "meta protocol", Format.NUMBER),
    PRIORITY(2, "meta priority", Format.HEX),
    MARK(3, "meta mark", Format.MARK),
    IIF(4, "iif", Format.HOST),
    OIF(5, "oif", Format.HOST),
    IIFNAME(6, "iifname", Format.NAME),
    OIFNAME(7, "oifname", Format.NAME),
    IIFTYPE(8, "iiftype", Format.HEX),
    OIFTYPE(9, "oiftype", Format.HEX),
    SKUID(10, "meta skuid", Format.HOST),
    SKGID(11, "meta skgid", Format.HOST),
    NFTRACE(12, "meta nftrace", Format.NUMBER),
    RTCLASSID(13, "meta rtclassid", Format.HOST),
    SECMARK(14, "meta secmark", Format.HEX),
    /** {@link #IPV4} or {@link #IPV6}. */
    NFPROTO(15, "meta nfproto", Format.FAMILY),
    /** The number of the transport protocol. */
    L4PROTO(16, "meta l4proto", Format.PROTOCOL),
    PKTTYPE(19, "meta pkttype", Format.NUMBER),
    CPU(20, "meta cpu", Format.HOST),
    IIFGROUP(21, "iifgroup", Format.HOST),
    OIFGROUP(22, "oifgroup", Format.HOST),
    CGROUP(23, "meta cgroup", Format.HOST),
    PRANDOM(24, "meta random", Format.HEX),
    SECPATH(25, "meta ipsec", Format.NUMBER),
    IIFKIND(26, "iifkind", Format.NAME),
    OIFKIND(27, "oifkind", Format.NAME);

    final int number;
    final String text;
    final Format format;

    MetaKey(int number, String text, Format format) {
      this.number = number;
      this.text = text;
      this.format = format;
    }
  }

  /** To register 1. */
  public Meta(MetaKey key) {
    this(1, key);
  }

  void write(MessageWriter out) {
    out.u32(NFTA_META_KEY, key.number).u32(NFTA_META_DREG, register);
  }

  /** A load, or a set if there is a source register. */
  static Expression read(Attributes attributes) throws MalformedMessage {
    int number = attributes.u32(NFTA_META_KEY);
    for (MetaKey key : MetaKey.values()) {
      if (key.number == number) {
        return attributes.has(NFTA_META_SREG)
            ? new SetMeta(attributes.u32(NFTA_META_SREG), key)
            : new Meta(attributes.u32(NFTA_META_DREG), key);
      }
    }
    throw new MalformedMessage("meta key " + number);
  }

  void print(RuleText text) {
    text.load(register, new Operand(key.text, key.format));
  }
}
