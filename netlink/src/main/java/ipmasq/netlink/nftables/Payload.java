package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Loads bytes of the packet. */
public record Payload(int register, PayloadBase base, int offset, int length)
    implements Expression {
  public static final Payload IP_SADDR = new Payload(1, PayloadBase.NETWORK, 12, 4);
  public static final Payload IP_DADDR = new Payload(1, PayloadBase.NETWORK, 16, 4);
  public static final Payload IP6_SADDR = new Payload(1, PayloadBase.NETWORK, 8, 16);
  public static final Payload IP6_DADDR = new Payload(1, PayloadBase.NETWORK, 24, 16);
  public static final Payload SPORT = new Payload(1, PayloadBase.TRANSPORT, 0, 2);
  public static final Payload DPORT = new Payload(1, PayloadBase.TRANSPORT, 2, 2);

  static final int HIGHEST = 5;
  private static final int NFTA_PAYLOAD_DREG = 1;
  private static final int NFTA_PAYLOAD_BASE = 2;
  private static final int NFTA_PAYLOAD_OFFSET = 3;
  private static final int NFTA_PAYLOAD_LEN = 4;
  private static final int NFTA_PAYLOAD_SREG = 5;

  /** The header that offsets count from: {@code NFT_PAYLOAD_*_HEADER}. */
  public enum PayloadBase {
    /** {@code NFT_PAYLOAD_LL_HEADER}. */
    LINK("ll"),
    NETWORK("nh"),
    TRANSPORT("th"),
    INNER("ih");

    private final String text;

    PayloadBase(String text) {
      this.text = text;
    }
  }

  void write(MessageWriter out) {
    out.u32(NFTA_PAYLOAD_DREG, register).u32(NFTA_PAYLOAD_BASE, base.ordinal());
    out.u32(NFTA_PAYLOAD_OFFSET, offset).u32(NFTA_PAYLOAD_LEN, length);
  }

  static Payload read(Attributes attributes) throws MalformedMessage {
    Expressions.refuse(attributes, NFTA_PAYLOAD_SREG); // writes to the packet
    return new Payload(
        attributes.u32(NFTA_PAYLOAD_DREG),
        Expressions.numbered(PayloadBase.values(), attributes.u32(NFTA_PAYLOAD_BASE)),
        attributes.u32(NFTA_PAYLOAD_OFFSET),
        attributes.u32(NFTA_PAYLOAD_LEN));
  }

  void print(RuleText text) {
    text.load(register, operand());
  }

  /** nft compares a prefix of whole bytes by loading only those. */
  private Operand operand() {
    if (base == PayloadBase.NETWORK && length > 0) {
      if (offset == 12 && length <= 4) {
        return Operand.address("ip saddr", 4);
      }
      if (offset == 16 && length <= 4) {
        return Operand.address("ip daddr", 4);
      }
      if (offset == 8 && length > 1 && length <= 16) {
        return Operand.address("ip6 saddr", 16);
      }
      if (offset == 24 && length <= 16) {
        return Operand.address("ip6 daddr", 16);
      }
      if (offset == 6 && length == 1) {
        return new Operand("ip6 nexthdr", Format.PROTOCOL);
      }
      if (offset == 9 && length == 1) {
        return new Operand("ip protocol", Format.PROTOCOL);
      }
    }
    if (base == PayloadBase.TRANSPORT && length == 2 && (offset == 0 || offset == 2)) {
      return new Operand(offset == 0 ? "th sport" : "th dport", Format.NUMBER);
    }
    return new Operand("@" + base.text + "," + offset * 8L + "," + length * 8L, Format.HEX);
  }
}
