package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** {@code to = (from & mask) ^ xor} */
public record Bitwise(int from, int to, Data mask, Data xor) implements Expression {
  static final int HIGHEST = 8;
  private static final int NFTA_BITWISE_SREG = 1;
  private static final int NFTA_BITWISE_DREG = 2;
  private static final int NFTA_BITWISE_LEN = 3;
  private static final int NFTA_BITWISE_MASK = 4;
  private static final int NFTA_BITWISE_XOR = 5;
  private static final int NFTA_BITWISE_OP = 6;

  public Bitwise {
    if (mask.length() != xor.length()) {
      throw new IllegalArgumentException("a mask of another length");
    }
  }

  /** Keeps in a register only the bits of the mask. */
  public static Bitwise and(int register, Data mask) {
    return new Bitwise(register, register, mask, Data.of(new byte[mask.length()]));
  }

  void write(MessageWriter out) {
    out.u32(NFTA_BITWISE_SREG, from)
        .u32(NFTA_BITWISE_DREG, to)
        .u32(NFTA_BITWISE_LEN, mask.length());
    Expressions.data(out, NFTA_BITWISE_MASK, mask);
    Expressions.data(out, NFTA_BITWISE_XOR, xor);
  }

  static Bitwise read(Attributes attributes) throws MalformedMessage {
    if (attributes.u32(NFTA_BITWISE_OP, 0) != 0) {
      throw new MalformedMessage("a shift");
    }
    Data mask = Expressions.data(attributes, NFTA_BITWISE_MASK);
    Data xor = Expressions.data(attributes, NFTA_BITWISE_XOR);
    if (mask.length() != xor.length()) {
      throw new MalformedMessage("a mask of another length");
    }
    return new Bitwise(
        attributes.u32(NFTA_BITWISE_SREG), attributes.u32(NFTA_BITWISE_DREG), mask, xor);
  }

  void print(RuleText text) {
    text.load(to, text.in(from).masked(this));
  }
}
