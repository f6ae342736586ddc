package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Loads what the kernel knows of a packet besides its bytes. */
public record Meta(int register, Key key) implements Expression {
  static final int HIGHEST = 3;
  private static final int DESTINATION = 1;
  private static final int KEY = 2;
  private static final int SOURCE = 3;

  /** What the protocol of an IPv4 packet loads as. */
  public static final Data IPV4 = Data.u8(2);

  /** What the protocol of an IPv6 packet loads as. */
  public static final Data IPV6 = Data.u8(10);

  /** What to load. */
  public enum Key {
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

    Key(int number, String text, Format format) {
      this.number = number;
      this.text = text;
      this.format = format;
    }
  }

  /** To register 1. */
  public Meta(Key key) {
    this(1, key);
  }

  void write(MessageWriter out) {
    out.u32(KEY, key.number).u32(DESTINATION, register);
  }

  /** What loads; or what sets, where there is a register to set from. */
  static Expression read(Attributes attributes) throws MalformedMessage {
    int number = attributes.u32(KEY);
    for (Key key : Key.values()) {
      if (key.number == number) {
        return attributes.has(SOURCE)
            ? new SetMeta(attributes.u32(SOURCE), key)
            : new Meta(attributes.u32(DESTINATION), key);
      }
    }
    throw new MalformedMessage("meta key " + number);
  }

  void print(RuleText text) {
    text.load(register, new Operand(key.text, key.format));
  }
}
