package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Continues if a register is in a set, or is not. */
public record Lookup(int register, String set, boolean absent) implements Expression {
  static final int HIGHEST = 5;
  static final int NFTA_LOOKUP_SET = 1;
  static final int NFTA_LOOKUP_SREG = 2;
  static final int NFTA_LOOKUP_DREG = 3;
  private static final int NFTA_LOOKUP_FLAGS = 5;
  private static final int NFT_LOOKUP_F_INV = 1;

  /** Register 1 is in the set. */
  public static Lookup in(String set) {
    return new Lookup(1, set, false);
  }

  void write(MessageWriter out) {
    out.u32(NFTA_LOOKUP_SREG, register).string(NFTA_LOOKUP_SET, set);
    if (absent) {
      out.u32(NFTA_LOOKUP_FLAGS, NFT_LOOKUP_F_INV);
    }
  }

  /** A set lookup, or a map lookup if there is a destination register. */
  static Expression read(Attributes attributes) throws MalformedMessage {
    if (attributes.has(NFTA_LOOKUP_DREG)) {
      return new MapLookup(
          attributes.u32(NFTA_LOOKUP_SREG),
          attributes.string(NFTA_LOOKUP_SET),
          attributes.u32(NFTA_LOOKUP_DREG));
    }
    return new Lookup(
        attributes.u32(NFTA_LOOKUP_SREG),
        attributes.string(NFTA_LOOKUP_SET),
        (attributes.u32(NFTA_LOOKUP_FLAGS, 0) & NFT_LOOKUP_F_INV) != 0);
  }

  void print(RuleText text) {
    String key = text.key(register);
    boolean masked = text.in(register).toString().equals(key) && text.in(register).isMasked();
    text.say(key + (absent ? " != @" : masked ? " == @" : " @") + set);
  }
}
