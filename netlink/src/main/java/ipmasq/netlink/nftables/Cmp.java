package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Continues if a register compares like this to a constant, byte by byte from the left. */
public record Cmp(int register, Operator operator, Data data) implements Expression {
  static final int HIGHEST = 3;
  private static final int NFTA_CMP_SREG = 1;
  private static final int NFTA_CMP_OP = 2;
  private static final int NFTA_CMP_DATA = 3;

  /** How to compare: {@code NFT_CMP_*}. */
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
    out.u32(NFTA_CMP_SREG, register).u32(NFTA_CMP_OP, operator.ordinal());
    Expressions.data(out, NFTA_CMP_DATA, data);
  }

  static Cmp read(Attributes attributes) throws MalformedMessage {
    return new Cmp(
        attributes.u32(NFTA_CMP_SREG),
        Expressions.numbered(Operator.values(), attributes.u32(NFTA_CMP_OP)),
        Expressions.data(attributes, NFTA_CMP_DATA));
  }

  void print(RuleText text) {
    text.say(text.in(register).compared(operator, data));
  }
}
