package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/**
 * Converts a number between host and network order. Numbers that the kernel makes are in host
 * order, but {@code <} compares bytes from the left.
 *
 * @param length how many bytes to convert
 * @param size bytes per number
 */
public record Byteorder(int from, int to, Direction direction, int length, int size)
    implements Expression {
  static final int HIGHEST = 5;
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

  void write(MessageWriter out) {
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

  void print(RuleText text) {
    text.load(to, text.in(from).turned());
  }
}
