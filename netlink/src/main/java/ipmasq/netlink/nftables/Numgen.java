package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Generates a number from {@code offset} to {@code offset + modulus - 1}, in host order. */
public record Numgen(int register, NumgenKind kind, int modulus, int offset) implements Expression {
  static final int HIGHEST = 4;
  private static final int NFTA_NG_DREG = 1;
  private static final int NFTA_NG_MODULUS = 2;
  private static final int NFTA_NG_TYPE = 3;
  private static final int NFTA_NG_OFFSET = 4;

  /** {@code NFT_NG_*}. */
  public enum NumgenKind {
    /** {@code NFT_NG_INCREMENTAL}: one after the other. */
    INC,
    RANDOM
  }

  /** At random, to register 1. */
  public static Numgen random(int modulus) {
    return new Numgen(1, NumgenKind.RANDOM, modulus, 0);
  }

  void write(MessageWriter out) {
    out.u32(NFTA_NG_DREG, register)
        .u32(NFTA_NG_MODULUS, modulus)
        .u32(NFTA_NG_TYPE, kind.ordinal())
        .u32(NFTA_NG_OFFSET, offset);
  }

  static Numgen read(Attributes attributes) throws MalformedMessage {
    return new Numgen(
        attributes.u32(NFTA_NG_DREG),
        Expressions.numbered(NumgenKind.values(), attributes.u32(NFTA_NG_TYPE)),
        attributes.u32(NFTA_NG_MODULUS),
        attributes.u32(NFTA_NG_OFFSET, 0));
  }

  void print(RuleText text) {
    String name = kind == NumgenKind.INC ? "numgen inc mod " : "numgen random mod ";
    String from = offset == 0 ? "" : " offset " + Integer.toUnsignedString(offset);
    text.load(register, new Operand(name + Integer.toUnsignedString(modulus) + from, Format.HOST));
  }
}
