package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;

/**
 * A step of a rule. Steps pass values in registers: {@code 1} to {@code 4} ({@code NFT_REG_1} to
 * {@code NFT_REG_4}) hold 16 bytes each, {@code 8} to {@code 23} ({@code NFT_REG32_00} to {@code
 * NFT_REG32_15}) are their quarters, and {@code 0} ({@code NFT_REG_VERDICT}) takes the verdict.
 */
public sealed interface Expression
    permits Load, Compute, Match, Statement, Expression.Unknown, Expression.Xtables {
  /** Writes its attributes. */
  void write(MessageWriter out);

  /**
   * An expression that this package has no record for, kept as the kernel gave it.
   *
   * @param name the kernel's name for it
   * @param data its attributes
   */
  record Unknown(String name, Data data) implements Expression {
    private static final int NLA_HDRLEN = 4;
    private static final int NLA_TYPE_MASK = 0x3fff;

    @Override
    public void write(MessageWriter out) {
      out.attributes(data.bytes());
    }

    /** Whether it has an attribute of this number. */
    public boolean has(int type) {
      ByteBuffer bytes = ByteBuffer.wrap(data.bytes()).order(ByteOrder.LITTLE_ENDIAN);
      int at = 0;
      while (at + NLA_HDRLEN <= bytes.limit()) {
        int length = bytes.getShort(at) & 0xffff;
        if ((bytes.getShort(at + 2) & NLA_TYPE_MASK) == type) {
          return true;
        }
        at += Math.max(NLA_HDRLEN, length + 3 & ~3);
      }
      return false;
    }

    @Override
    public String toString() {
      return "[" + name + "]";
    }
  }

  /**
   * A match or target of iptables, as {@code iptables-nft} puts it into a rule.
   *
   * @param info its own structure, in host order
   */
  record Xtables(XtKind kind, String name, int revision, Data info) implements Expression {
    static final int HIGHEST = 3;

    // NFTA_MATCH_* has the same numbers.
    private static final int NFTA_TARGET_NAME = 1;
    private static final int NFTA_TARGET_REV = 2;
    private static final int NFTA_TARGET_INFO = 3;

    /** Which of the two. */
    public enum XtKind {
      MATCH,
      TARGET;

      @Override
      public String toString() {
        return name().toLowerCase(Locale.ROOT);
      }
    }

    @Override
    public void write(MessageWriter out) {
      out.string(NFTA_TARGET_NAME, name)
          .u32(NFTA_TARGET_REV, revision)
          .bytes(NFTA_TARGET_INFO, info.bytes());
    }

    static Xtables read(XtKind kind, Attributes attributes) throws MalformedMessage {
      return new Xtables(
          kind,
          attributes.string(NFTA_TARGET_NAME),
          attributes.u32(NFTA_TARGET_REV, 0),
          Data.of(attributes.bytes(NFTA_TARGET_INFO)));
    }

    @Override
    public String toString() {
      return "xt " + kind + " \"" + name + "\"";
    }
  }
}
