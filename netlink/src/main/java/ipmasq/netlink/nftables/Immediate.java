package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Puts a constant into a register. */
public record Immediate(int register, Data data) implements Expression {
  static final int HIGHEST = 2;
  static final int REGISTER = 1;
  static final int DATA = 2;

  void write(MessageWriter out) {
    out.u32(REGISTER, register);
    Expressions.data(out, DATA, data);
  }

  /** A constant, or a verdict where it goes to the register of verdicts. */
  static Expression read(Attributes attributes) throws MalformedMessage {
    int register = attributes.u32(REGISTER);
    return register == Verdict.REGISTER
        ? Verdict.read(attributes)
        : new Immediate(register, Expressions.data(attributes, DATA));
  }

  void print(RuleText text) {
    text.load(register, Operand.constant(data));
  }
}
