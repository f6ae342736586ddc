package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Loads what connection tracking knows of the packet's flow. */
public record Ct(int register, CtKey key) implements Expression {
  static final int HIGHEST = 4;
  private static final int NFTA_CT_DREG = 1;
  private static final int NFTA_CT_KEY = 2;
  private static final int NFTA_CT_DIRECTION = 3;
  private static final int NFTA_CT_SREG = 4;

  /** What to load, in host order: {@code NFT_CT_*}. */
  public enum CtKey {
    STATE,
    DIRECTION,
    STATUS,
    MARK
  }

  void write(MessageWriter out) {
    out.u32(NFTA_CT_KEY, key.ordinal()).u32(NFTA_CT_DREG, register);
  }

  static Ct read(Attributes attributes) throws MalformedMessage {
    Expressions.refuse(attributes, NFTA_CT_DIRECTION, NFTA_CT_SREG);
    return new Ct(
        attributes.u32(NFTA_CT_DREG),
        Expressions.numbered(CtKey.values(), attributes.u32(NFTA_CT_KEY)));
  }

  void print(RuleText text) {
    text.load(
        register,
        switch (key) {
          case STATE -> new Operand("ct state", Format.CT_STATE);
          case DIRECTION -> new Operand("ct direction", Format.CT_DIRECTION);
          case STATUS -> new Operand("ct status", Format.CT_STATUS);
          case MARK -> new Operand("ct mark", Format.MARK);
        });
  }
}
