package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.Data;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Goes on with the rule if a register holds such a value. */
public sealed interface Match extends Expression {
  /** Continues if a register compares like this to a constant, byte by byte from the left. */
  record Cmp(int register, Operator operator, Data data) implements Match {
    private static final int NFTA_CMP_SREG = 1;
    private static final int NFTA_CMP_OP = 2;
    private static final int NFTA_CMP_DATA = 3;

    /** How to compare: {@code NFT_CMP_*}. */
    public enum Operator {
      EQ,
      NEQ,
      LT,
      LTE,
      GT,
      GTE
    }

    /** Register 1 equals. */
    public static Cmp eq(Data data) {
      return new Cmp(1, Operator.EQ, data);
    }

    /** Register 1 differs. */
    public static Cmp neq(Data data) {
      return new Cmp(1, Operator.NEQ, data);
    }

    @Override
    public void write(MessageWriter out) {
      out.u32(NFTA_CMP_SREG, register).u32(NFTA_CMP_OP, operator.ordinal());
      Expressions.data(out, NFTA_CMP_DATA, data);
    }

    static Cmp read(Attributes attributes) throws MalformedMessage {
      return new Cmp(
          attributes.u32(NFTA_CMP_SREG),
          Expressions.numbered(Operator.values(), attributes.u32(NFTA_CMP_OP)),
          Expressions.data(attributes, NFTA_CMP_DATA));
    }
  }

  /** Continues if a register is inside, or outside, a range that includes both ends. */
  record InRange(int register, boolean outside, Data first, Data last) implements Match {
    private static final int NFTA_RANGE_SREG = 1;
    private static final int NFTA_RANGE_OP = 2;
    private static final int NFTA_RANGE_FROM_DATA = 3;
    private static final int NFTA_RANGE_TO_DATA = 4;
    private static final int NFT_RANGE_EQ = 0;
    private static final int NFT_RANGE_NEQ = 1;

    @Override
    public void write(MessageWriter out) {
      out.u32(NFTA_RANGE_SREG, register).u32(NFTA_RANGE_OP, outside ? NFT_RANGE_NEQ : NFT_RANGE_EQ);
      Expressions.data(out, NFTA_RANGE_FROM_DATA, first);
      Expressions.data(out, NFTA_RANGE_TO_DATA, last);
    }

    static InRange read(Attributes attributes) throws MalformedMessage {
      return new InRange(
          attributes.u32(NFTA_RANGE_SREG),
          attributes.u32(NFTA_RANGE_OP) != NFT_RANGE_EQ,
          Expressions.data(attributes, NFTA_RANGE_FROM_DATA),
          Expressions.data(attributes, NFTA_RANGE_TO_DATA));
    }
  }

  /** Continues if a register is in a set, or is not. */
  record Lookup(int register, String set, boolean absent) implements Match {
    static final int NFTA_LOOKUP_SET = 1;
    static final int NFTA_LOOKUP_SREG = 2;
    static final int NFTA_LOOKUP_DREG = 3;
    private static final int NFTA_LOOKUP_FLAGS = 5;
    private static final int NFT_LOOKUP_F_INV = 1;

    /** Register 1 is in the set. */
    public static Lookup in(String set) {
      return new Lookup(1, set, false);
    }

    @Override
    public void write(MessageWriter out) {
      out.u32(NFTA_LOOKUP_SREG, register).string(NFTA_LOOKUP_SET, set);
      if (absent) {
        out.u32(NFTA_LOOKUP_FLAGS, NFT_LOOKUP_F_INV);
      }
    }

    /** A set lookup, or a map lookup if there is a destination register. */
    static Expression read(Attributes attributes) throws MalformedMessage {
      if (attributes.has(NFTA_LOOKUP_DREG)) {
        return new Load.MapLookup(
            attributes.u32(NFTA_LOOKUP_SREG),
            attributes.string(NFTA_LOOKUP_SET),
            attributes.u32(NFTA_LOOKUP_DREG));
      }
      return new Lookup(
          attributes.u32(NFTA_LOOKUP_SREG),
          attributes.string(NFTA_LOOKUP_SET),
          (attributes.u32(NFTA_LOOKUP_FLAGS, 0) & NFT_LOOKUP_F_INV) != 0);
    }
  }
}
