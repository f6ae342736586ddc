package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Puts a constant into a register. */
public record Immediate(int register, Data data) implements Expression {
  static final int HIGHEST = 2;
  static final int NFTA_IMMEDIATE_DREG = 1;
  static final int NFTA_IMMEDIATE_DATA = 2;

  void write(MessageWriter out) {
    out.u32(NFTA_IMMEDIATE_DREG, register);
    Expressions.data(out, NFTA_IMMEDIATE_DATA, data);
  }

  /** A constant, or a verdict if it goes to the verdict register. */
  static Expression read(Attributes attributes) throws MalformedMessage {
    int register = attributes.u32(NFTA_IMMEDIATE_DREG);
    return register == Verdict.NFT_REG_VERDICT
        ? Verdict.read(attributes)
        : new Immediate(register, Expressions.data(attributes, NFTA_IMMEDIATE_DATA));
  }

  void print(RuleText text) {
    text.load(register, Operand.constant(data));
  }
}
