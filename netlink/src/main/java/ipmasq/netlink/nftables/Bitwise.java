package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** {@code to = (from & mask) ^ xor} */
public record Bitwise(int from, int to, Data mask, Data xor) implements Expression {
  static final int HIGHEST = 8;
  private static final int SOURCE = 1;
  private static final int DESTINATION = 2;
  private static final int LENGTH = 3;
  private static final int MASK = 4;
  private static final int XOR = 5;
  private static final int OPERATION = 6;

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
    out.u32(SOURCE, from).u32(DESTINATION, to).u32(LENGTH, mask.length());
    Expressions.data(out, MASK, mask);
    Expressions.data(out, XOR, xor);
  }

  static Bitwise read(Attributes attributes) throws MalformedMessage {
    if (attributes.u32(OPERATION, 0) != 0) {
      throw new MalformedMessage("a shift");
    }
    Data mask = Expressions.data(attributes, MASK);
    Data xor = Expressions.data(attributes, XOR);
    if (mask.length() != xor.length()) {
      throw new MalformedMessage("a mask of another length");
    }
    return new Bitwise(attributes.u32(SOURCE), attributes.u32(DESTINATION), mask, xor);
  }

  void print(RuleText text) {
    text.load(to, text.in(from).masked(this));
  }
}
