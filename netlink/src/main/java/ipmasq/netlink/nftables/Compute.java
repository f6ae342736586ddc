package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.Data;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Puts a value into a register that does not come from the packet, or changes one there. */
public sealed interface Compute extends Expression {
  /** Puts a constant into a register. */
  record Immediate(int register, Data data) implements Compute {
    static final int NFTA_IMMEDIATE_DREG = 1;
    static final int NFTA_IMMEDIATE_DATA = 2;

    @Override
    public void write(MessageWriter out) {
      out.u32(NFTA_IMMEDIATE_DREG, register);
      Expressions.data(out, NFTA_IMMEDIATE_DATA, data);
    }

    /** A constant, or a verdict if it goes to the verdict register. */
    static Expression read(Attributes attributes) throws MalformedMessage {
      int register = attributes.u32(NFTA_IMMEDIATE_DREG);
      return register == Statement.Verdict.NFT_REG_VERDICT
          ? Statement.Verdict.read(
              attributes.nested(NFTA_IMMEDIATE_DATA).nested(Expressions.NFTA_DATA_VERDICT))
          : new Immediate(register, Expressions.data(attributes, NFTA_IMMEDIATE_DATA));
    }
  }

  /** Generates a number from {@code offset} to {@code offset + modulus - 1}, in host order. */
  record Numgen(int register, Kind kind, int modulus, int offset) implements Compute {
    private static final int NFTA_NG_DREG = 1;
    private static final int NFTA_NG_MODULUS = 2;
    private static final int NFTA_NG_TYPE = 3;
    private static final int NFTA_NG_OFFSET = 4;

    /** {@code NFT_NG_*}. */
    public enum Kind {
      /** {@code NFT_NG_INCREMENTAL}: one after the other. */
      INC,
      RANDOM
    }

    /** At random, to register 1. */
    public static Numgen random(int modulus) {
      return new Numgen(1, Kind.RANDOM, modulus, 0);
    }

    @Override
    public void write(MessageWriter out) {
      out.u32(NFTA_NG_DREG, register)
          .u32(NFTA_NG_MODULUS, modulus)
          .u32(NFTA_NG_TYPE, kind.ordinal())
          .u32(NFTA_NG_OFFSET, offset);
    }

    static Numgen read(Attributes attributes) throws MalformedMessage {
      return new Numgen(
          attributes.u32(NFTA_NG_DREG),
          Expressions.numbered(Kind.values(), attributes.u32(NFTA_NG_TYPE)),
          attributes.u32(NFTA_NG_MODULUS),
          attributes.u32(NFTA_NG_OFFSET, 0));
    }
  }

  /** {@code to = (from & mask) ^ xor} */
  record Bitwise(int from, int to, Data mask, Data xor) implements Compute {
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

    @Override
    public void write(MessageWriter out) {
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
  }

  /**
   * Converts a number between host and network order. Numbers that the kernel makes are in host
   * order, but {@code <} compares bytes from the left.
   *
   * @param length how many bytes to convert
   * @param size bytes per number
   */
  record Byteorder(int from, int to, Direction direction, int length, int size) implements Compute {
    private static final int NFTA_BYTEORDER_SREG = 1;
    private static final int NFTA_BYTEORDER_DREG = 2;
    private static final int NFTA_BYTEORDER_OP = 3;
    private static final int NFTA_BYTEORDER_LEN = 4;
    private static final int NFTA_BYTEORDER_SIZE = 5;

    /** Which way. */
    public enum Direction {
      /** {@code NFT_BYTEORDER_NTOH}. */
      TO_HOST,
      /** {@code NFT_BYTEORDER_HTON}. */
      TO_NETWORK
    }

    /** Converts a four-byte number in place. */
    public static Byteorder toNetwork(int register) {
      return new Byteorder(register, register, Direction.TO_NETWORK, 4, 4);
    }

    @Override
    public void write(MessageWriter out) {
      out.u32(NFTA_BYTEORDER_SREG, from)
          .u32(NFTA_BYTEORDER_DREG, to)
          .u32(NFTA_BYTEORDER_OP, direction.ordinal());
      out.u32(NFTA_BYTEORDER_LEN, length).u32(NFTA_BYTEORDER_SIZE, size);
    }

    static Byteorder read(Attributes attributes) throws MalformedMessage {
      return new Byteorder(
          attributes.u32(NFTA_BYTEORDER_SREG),
          attributes.u32(NFTA_BYTEORDER_DREG),
          Expressions.numbered(Direction.values(), attributes.u32(NFTA_BYTEORDER_OP)),
          attributes.u32(NFTA_BYTEORDER_LEN),
          attributes.u32(NFTA_BYTEORDER_SIZE));
    }
  }
}
