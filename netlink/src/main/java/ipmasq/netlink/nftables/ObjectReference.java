package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/**
 * Hands the packet to a named object of the table.
 *
 * @param type the kernel's number for the kind of object
 */
public record ObjectReference(int type, String name) implements Expression {
  static final int HIGHEST = 5;
  private static final int NFTA_OBJREF_IMM_TYPE = 1;
  private static final int NFTA_OBJREF_IMM_NAME = 2;
  private static final int NFTA_OBJREF_SET_SREG = 3;
  private static final int NFT_OBJECT_COUNTER = 1;

  /** Whether it only counts. */
  public boolean isCounter() {
    return type == NFT_OBJECT_COUNTER;
  }

  void write(MessageWriter out) {
    out.u32(NFTA_OBJREF_IMM_TYPE, type).string(NFTA_OBJREF_IMM_NAME, name);
  }

  static ObjectReference read(Attributes attributes) throws MalformedMessage {
    Expressions.refuse(attributes, NFTA_OBJREF_SET_SREG); // an object out of a map
    return new ObjectReference(
        attributes.u32(NFTA_OBJREF_IMM_TYPE), attributes.string(NFTA_OBJREF_IMM_NAME));
  }

  @Override
  public String toString() {
    return (isCounter() ? "counter" : "object of type " + type) + " name \"" + name + "\"";
  }
}
