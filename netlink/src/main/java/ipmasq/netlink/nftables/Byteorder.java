package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/**
 * Turns a number between host and network order. Numbers that the kernel makes are in host order,
 * but {@code <} compares bytes from the left.
 *
 * @param length how many bytes to turn
 * @param size how many of them make one number
 */
public record Byteorder(int from, int to, Direction direction, int length, int size)
    implements Expression {
  static final int HIGHEST = 5;
  private static final int SOURCE = 1;
  private static final int DESTINATION = 2;
  private static final int OPERATION = 3;
  private static final int LENGTH = 4;
  private static final int SIZE = 5;

  /** Which way. */
  public enum Direction {
    TO_HOST,
    TO_NETWORK
  }

  /** Turns a number of four bytes in its register. */
  public static Byteorder toNetwork(int register) {
    return new Byteorder(register, register, Direction.TO_NETWORK, 4, 4);
  }

  void write(MessageWriter out) {
    out.u32(SOURCE, from).u32(DESTINATION, to).u32(OPERATION, direction.ordinal());
    out.u32(LENGTH, length).u32(SIZE, size);
  }

  static Byteorder read(Attributes attributes) throws MalformedMessage {
    return new Byteorder(
        attributes.u32(SOURCE),
        attributes.u32(DESTINATION),
        Expressions.numbered(Direction.values(), attributes.u32(OPERATION)),
        attributes.u32(LENGTH),
        attributes.u32(SIZE));
  }

  void print(RuleText text) {
    text.load(to, text.in(from).turned());
  }
}
