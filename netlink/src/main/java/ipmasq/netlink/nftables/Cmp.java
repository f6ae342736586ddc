package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Goes on where a register compares so to a constant, byte by byte from the left. */
public record Cmp(int register, Operator operator, Data data) implements Expression {
  static final int HIGHEST = 3;
  private static final int REGISTER = 1;
  private static final int OPERATOR = 2;
  private static final int DATA = 3;

  /** How to compare. */
  public enum Operator {
    EQ(""),
    NEQ("!= "),
    LT("< "),
    LTE("<= "),
    GT("> "),
    GTE(">= ");

    private final String sign;

    Operator(String sign) {
      this.sign = sign;
    }

    String sign() {
      return sign;
    }
  }

  /** Register 1 equals. */
  public static Cmp eq(Data data) {
    return new Cmp(1, Operator.EQ, data);
  }

  /** Register 1 differs. */
  public static Cmp neq(Data data) {
    return new Cmp(1, Operator.NEQ, data);
  }

  void write(MessageWriter out) {
    out.u32(REGISTER, register).u32(OPERATOR, operator.ordinal());
    Expressions.data(out, DATA, data);
  }

  static Cmp read(Attributes attributes) throws MalformedMessage {
    return new Cmp(
        attributes.u32(REGISTER),
        Expressions.numbered(Operator.values(), attributes.u32(OPERATOR)),
        Expressions.data(attributes, DATA));
  }

  void print(RuleText text) {
    text.say(text.in(register).compared(operator, data));
  }
}
