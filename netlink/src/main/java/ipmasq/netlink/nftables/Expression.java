package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.Data;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

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
    @Override
    public void write(MessageWriter out) {
      out.attributes(data.bytes());
    }

    /** Whether it has an attribute of this number. */
    public boolean has(int type) {
      try {
        return new Attributes(data.bytes()).has(type);
      } catch (MalformedMessage none) {
        return false;
      }
    }
  }

  /**
   * A match or target of iptables, as {@code iptables-nft} puts it into a rule.
   *
   * @param info its own structure, in host order
   */
  record Xtables(XtKind kind, String name, int revision, Data info) implements Expression {
    // NFTA_MATCH_* has the same numbers.
    private static final int NFTA_TARGET_NAME = 1;
    private static final int NFTA_TARGET_REV = 2;
    private static final int NFTA_TARGET_INFO = 3;

    /** Which of the two. */
    public enum XtKind {
      MATCH,
      TARGET
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
  }
}
