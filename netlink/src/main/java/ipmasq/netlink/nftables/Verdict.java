package ipmasq.netlink.nftables;

import ipmasq.netlink.AttributeReader;
import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/**
 * Decides on the packet.
 *
 * @param chain where a jump or goto leads; empty otherwise
 */
public record Verdict(Code code, String chain) implements Expression {
  public static final Verdict ACCEPT = new Verdict(Code.ACCEPT, "");
  public static final Verdict DROP = new Verdict(Code.DROP, "");
  public static final Verdict RETURN = new Verdict(Code.RETURN, "");

  static final int NFT_REG_VERDICT = 0;
  private static final int NFTA_VERDICT_CODE = 1;
  private static final int NFTA_VERDICT_CHAIN = 2;

  /** What is decided: {@code NF_DROP}, {@code NF_ACCEPT} and {@code NFT_*}. */
  public enum Code {
    DROP(0),
    ACCEPT(1),
    CONTINUE(-1),
    JUMP(-3),
    GOTO(-4),
    RETURN(-5);

    private final int number;

    Code(int number) {
      this.number = number;
    }
  }

  public Verdict {
    if ((code == Code.JUMP || code == Code.GOTO) == chain.isEmpty()) {
      throw new IllegalArgumentException(code + " to \"" + chain + "\"");
    }
  }

  /** Goes on in another chain, and after it in this one. */
  public static Verdict jump(String chain) {
    return new Verdict(Code.JUMP, chain);
  }

  void write(MessageWriter out) {
    out.u32(Immediate.NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
    int data = out.nest(Immediate.NFTA_IMMEDIATE_DATA);
    int verdict = out.nest(Expressions.NFTA_DATA_VERDICT);
    out.u32(NFTA_VERDICT_CODE, code.number);
    if (!chain.isEmpty()) {
      out.string(NFTA_VERDICT_CHAIN, chain);
    }
    out.end(verdict).end(data);
  }

  static Verdict read(Attributes attributes) throws MalformedMessage {
    return read(
        attributes
            .nested(Immediate.NFTA_IMMEDIATE_DATA, Expressions.NFTA_DATA_VERDICT)
            .list(Expressions.NFTA_DATA_VERDICT));
  }

  static Verdict read(AttributeReader attributes) throws MalformedMessage {
    Attributes verdict = Attributes.of(attributes, NFTA_VERDICT_CHAIN);
    int number = verdict.u32(NFTA_VERDICT_CODE);
    String chain = verdict.string(NFTA_VERDICT_CHAIN, "");
    for (Code code : Code.values()) {
      if (code.number == number && (code == Code.JUMP || code == Code.GOTO) != chain.isEmpty()) {
        return new Verdict(code, chain);
      }
    }
    throw new MalformedMessage("verdict " + number);
  }

  @Override
  public String toString() {
    return switch (code) {
      case DROP -> "drop";
      case ACCEPT -> "accept";
      case CONTINUE -> "continue";
      case JUMP -> "jump " + chain;
      case GOTO -> "goto " + chain;
      case RETURN -> "return";
    };
  }
}
