package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;
import java.util.EnumSet;
import java.util.Set;

/** Asks the routing table about an address of the packet. */
public record Fib(int register, Result result, Set<FibFlag> flags) implements Expression {
  static final int HIGHEST = 3;
  private static final int NFTA_FIB_DREG = 1;
  private static final int NFTA_FIB_RESULT = 2;
  private static final int NFTA_FIB_FLAGS = 3;
  private static final int NFTA_FIB_F_PRESENT = 0x20;

  public Fib {
    flags = Set.copyOf(flags);
  }

  /** What to ask for: {@code NFT_FIB_RESULT_*}. */
  public enum Result {
    /** The index of the interface. */
    OIF("oif", Format.HOST),
    OIFNAME("oifname", Format.NAME),
    /** Local, broadcast, …; see {@link #LOCAL}. {@code NFT_FIB_RESULT_ADDRTYPE}. */
    TYPE("type", Format.ADDRESS_TYPE);

    private final String text;
    private final Format format;

    Result(String text, Format format) {
      this.text = text;
      this.format = format;
    }
  }

  /** The type of an address of the host itself: {@code RTN_LOCAL}. */
  public static final Data LOCAL = Data.hostU32(2);

  /** What of the packet takes part in the question: {@code NFTA_FIB_F_*}. */
  public enum FibFlag {
    SADDR,
    DADDR,
    MARK,
    IIF,
    OIF;

    private int bit() {
      return 1 << ordinal();
    }

    private String text() {
      return switch (this) {
        case SADDR -> "saddr";
        case DADDR -> "daddr";
        case MARK -> "mark";
        case IIF -> "iif";
        case OIF -> "oif";
      };
    }
  }

  /** {@code fib daddr type}, to register 1. */
  public static Fib destinationType() {
    return new Fib(1, Result.TYPE, Set.of(FibFlag.DADDR));
  }

  void write(MessageWriter out) {
    int bits = 0;
    for (FibFlag flag : flags) {
      bits |= flag.bit();
    }
    out.u32(NFTA_FIB_FLAGS, bits)
        .u32(NFTA_FIB_RESULT, result.ordinal() + 1)
        .u32(NFTA_FIB_DREG, register);
  }

  static Fib read(Attributes attributes) throws MalformedMessage {
    int bits = attributes.u32(NFTA_FIB_FLAGS);
    Set<FibFlag> flags = EnumSet.noneOf(FibFlag.class);
    for (FibFlag flag : FibFlag.values()) {
      if ((bits & flag.bit()) != 0) {
        flags.add(flag);
        bits &= ~flag.bit();
      }
    }
    if (bits != 0) {
      throw new MalformedMessage(
          (bits & NFTA_FIB_F_PRESENT) != 0 ? "fib … exists" : "fib flags " + bits);
    }
    return new Fib(
        attributes.u32(NFTA_FIB_DREG),
        Expressions.numbered(Result.values(), attributes.u32(NFTA_FIB_RESULT) - 1),
        flags);
  }

  void print(RuleText text) {
    StringBuilder question = new StringBuilder("fib ");
    String between = "";
    for (FibFlag flag : FibFlag.values()) {
      if (flags.contains(flag)) {
        question.append(between).append(flag.text());
        between = " . ";
      }
    }
    text.load(register, new Operand(question + " " + result.text, result.format));
  }
}
