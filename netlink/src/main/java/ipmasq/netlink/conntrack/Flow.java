package ipmasq.netlink.conntrack;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.Data;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageReader;
import ipmasq.netlink.MessageWriter;

/**
 * A flow that the kernel tracks.
 *
 * @param family 2 for IPv4, 10 for IPv6
 * @param original its packets as they came
 * @param reply the packets that answer them: sent to the source that the flow got
 * @param status bits; see {@link #isSourceTranslated}
 * @param mark set by rules
 * @param id the kernel's number for it
 * @param key how the kernel names it in messages
 */
public record Flow(
    int family, Tuple original, Tuple reply, int status, int mark, int id, Data key) {
  private static final int ORIGINAL = 1;
  private static final int REPLY = 2;
  private static final int STATUS = 3;
  private static final int MARK = 8;
  private static final int ID = 12;
  private static final int ZONE = 18;
  private static final int SOURCE_TRANSLATED = 1 << 4;

  /** Whether its packets leave with another source than they came with. */
  public boolean isSourceTranslated() {
    return (status & SOURCE_TRANSLATED) != 0;
  }

  static Flow read(MessageReader message) throws MalformedMessage {
    Attributes attributes = Attributes.of(message.attributes(), ZONE);
    return new Flow(
        message.family(),
        Tuple.read(attributes.nested(ORIGINAL, Tuple.HIGHEST)),
        Tuple.read(attributes.nested(REPLY, Tuple.HIGHEST)),
        attributes.u32(STATUS, 0),
        attributes.u32(MARK, 0),
        attributes.u32(ID, 0),
        key(attributes));
  }

  /**
   * What a message that deletes the flow says: the kernel finds it by that, and by nothing else.
   */
  private static Data key(Attributes attributes) throws MalformedMessage {
    MessageWriter out = new MessageWriter().begin(0, 0);
    int header = out.length();
    out.nested(ORIGINAL, attributes.bytes(ORIGINAL));
    if (attributes.has(ID)) {
      out.bytes(ID, attributes.bytes(ID)); // mostly tells a later flow of the same ends apart
    }
    if (attributes.has(ZONE)) {
      out.bytes(ZONE, attributes.bytes(ZONE));
    }
    byte[] message = out.message();
    byte[] key = new byte[message.length - header];
    System.arraycopy(message, header, key, 0, key.length);
    return Data.of(key);
  }

  @Override
  public String toString() {
    return original + ", answered " + reply;
  }
}
