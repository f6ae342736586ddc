package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Makes a number from {@code offset} on, below {@code offset + modulus}, in host order. */
public record Numgen(int register, Kind kind, int modulus, int offset) implements Expression {
  static final int HIGHEST = 4;
  private static final int REGISTER = 1;
  private static final int MODULUS = 2;
  private static final int TYPE = 3;
  private static final int OFFSET = 4;

  /** One after the other, or any. */
  public enum Kind {
    INC,
    RANDOM
  }

  /** At random, to register 1. */
  public static Numgen random(int modulus) {
    return new Numgen(1, Kind.RANDOM, modulus, 0);
  }

  void write(MessageWriter out) {
    out.u32(REGISTER, register).u32(MODULUS, modulus).u32(TYPE, kind.ordinal()).u32(OFFSET, offset);
  }

  static Numgen read(Attributes attributes) throws MalformedMessage {
    return new Numgen(
        attributes.u32(REGISTER),
        Expressions.numbered(Kind.values(), attributes.u32(TYPE)),
        attributes.u32(MODULUS),
        attributes.u32(OFFSET, 0));
  }

  void print(RuleText text) {
    String name = kind == Kind.INC ? "numgen inc mod " : "numgen random mod ";
    String from = offset == 0 ? "" : " offset " + Integer.toUnsignedString(offset);
    text.load(register, new Operand(name + Integer.toUnsignedString(modulus) + from, Format.HOST));
  }
}
