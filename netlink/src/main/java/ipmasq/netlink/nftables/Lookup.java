package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Goes on where a register is in a set, or where it is not. */
public record Lookup(int register, String set, boolean absent) implements Expression {
  static final int HIGHEST = 5;
  private static final int SET = 1;
  private static final int SOURCE = 2;
  private static final int DESTINATION = 3;
  private static final int FLAGS = 5;
  private static final int INVERT = 1;

  /** Register 1 is in the set. */
  public static Lookup in(String set) {
    return new Lookup(1, set, false);
  }

  void write(MessageWriter out) {
    out.u32(SOURCE, register).string(SET, set);
    if (absent) {
      out.u32(FLAGS, INVERT);
    }
  }

  /** A set; or a map, where there is a register for what it holds. */
  static Expression read(Attributes attributes) throws MalformedMessage {
    if (attributes.has(DESTINATION)) {
      return new MapLookup(
          attributes.u32(SOURCE), attributes.string(SET), attributes.u32(DESTINATION));
    }
    return new Lookup(
        attributes.u32(SOURCE), attributes.string(SET), (attributes.u32(FLAGS, 0) & INVERT) != 0);
  }

  void print(RuleText text) {
    text.say(text.in(register) + (absent ? " != @" : " @") + set);
  }
}
