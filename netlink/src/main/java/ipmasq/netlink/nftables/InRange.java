package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Continues if a register is inside, or outside, a range that includes both ends. */
public record InRange(int register, boolean outside, Data first, Data last) implements Expression {
  static final int HIGHEST = 4;
  private static final int NFTA_RANGE_SREG = 1;
  private static final int NFTA_RANGE_OP = 2;
  private static final int NFTA_RANGE_FROM_DATA = 3;
  private static final int NFTA_RANGE_TO_DATA = 4;
  private static final int NFT_RANGE_EQ = 0;
  private static final int NFT_RANGE_NEQ = 1;

  void write(MessageWriter out) {
    out.u32(NFTA_RANGE_SREG, register).u32(NFTA_RANGE_OP, outside ? NFT_RANGE_NEQ : NFT_RANGE_EQ);
    Expressions.data(out, NFTA_RANGE_FROM_DATA, first);
    Expressions.data(out, NFTA_RANGE_TO_DATA, last);
  }

  static InRange read(Attributes attributes) throws MalformedMessage {
    return new InRange(
        attributes.u32(NFTA_RANGE_SREG),
        attributes.u32(NFTA_RANGE_OP) != NFT_RANGE_EQ,
        Expressions.data(attributes, NFTA_RANGE_FROM_DATA),
        Expressions.data(attributes, NFTA_RANGE_TO_DATA));
  }

  void print(RuleText text) {
    Operand operand = text.in(register);
    text.say(operand + (outside ? " != " : " ") + operand.shown(first) + "-" + operand.shown(last));
  }
}
