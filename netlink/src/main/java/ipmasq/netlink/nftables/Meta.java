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
    /** The ether type. */
    PROTOCOL(1, "meta protocol", Format.NUMBER),
    MARK(3, "meta mark", Format.MARK),
    IIF(4, "iif", Format.HOST),
    OIF(5, "oif", Format.HOST),
    IIFNAME(6, "iifname", Format.NAME),
    OIFNAME(7, "oifname", Format.NAME),
    /** {@link #IPV4} or {@link #IPV6}. */
    NFPROTO(15, "meta nfproto", Format.FAMILY),
    /** The number of the transport protocol. */
    L4PROTO(16, "meta l4proto", Format.PROTOCOL);

    private final int number;
    private final String text;
    private final Format format;

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

  static Meta read(Attributes attributes) throws MalformedMessage {
    Expressions.refuse(attributes, SOURCE); // sets instead of loading
    int number = attributes.u32(KEY);
    for (Key key : Key.values()) {
      if (key.number == number) {
        return new Meta(attributes.u32(DESTINATION), key);
      }
    }
    throw new MalformedMessage("meta key " + number);
  }

  void print(RuleText text) {
    text.load(register, new Operand(key.text, key.format));
  }
}
