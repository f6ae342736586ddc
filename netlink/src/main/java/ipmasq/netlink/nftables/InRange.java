package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Goes on where a register lies in a range, both ends included, or where it does not. */
public record InRange(int register, boolean outside, Data first, Data last) implements Expression {
  static final int HIGHEST = 4;
  private static final int REGISTER = 1;
  private static final int OPERATOR = 2;
  private static final int FROM = 3;
  private static final int TO = 4;

  void write(MessageWriter out) {
    out.u32(REGISTER, register).u32(OPERATOR, outside ? 1 : 0);
    Expressions.data(out, FROM, first);
    Expressions.data(out, TO, last);
  }

  static InRange read(Attributes attributes) throws MalformedMessage {
    return new InRange(
        attributes.u32(REGISTER),
        attributes.u32(OPERATOR) != 0,
        Expressions.data(attributes, FROM),
        Expressions.data(attributes, TO));
  }

  void print(RuleText text) {
    Operand operand = text.in(register);
    text.say(operand + (outside ? " != " : " ") + operand.shown(first) + "-" + operand.shown(last));
  }
}
