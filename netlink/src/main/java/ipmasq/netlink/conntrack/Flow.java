package ipmasq.netlink.conntrack;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageReader;
import ipmasq.netlink.MessageWriter;

/** A flow that the kernel tracks. Immutable. */
public final class Flow {
  private static final int ORIGINAL = 1;
  private static final int REPLY = 2;
  private static final int STATUS = 3;
  private static final int MARK = 8;
  private static final int ID = 12;
  private static final int ZONE = 18;
  private static final int SOURCE_TRANSLATED = 1 << 4;

  private final int family;
  private final byte[] key;
  private final Tuple original;
  private final Tuple reply;
  private final int status;
  private final int mark;

  private Flow(int family, Attributes attributes) throws MalformedMessage {
    this.family = family;
    this.key = key(attributes);
    original = Tuple.read(attributes.nested(ORIGINAL, Tuple.HIGHEST));
    reply = Tuple.read(attributes.nested(REPLY, Tuple.HIGHEST));
    status = attributes.u32(STATUS, 0);
    mark = attributes.u32(MARK, 0);
  }

  private static byte[] key(Attributes attributes) throws MalformedMessage {
    MessageWriter out = new MessageWriter();
    out.nested(ORIGINAL, attributes.bytes(ORIGINAL));
    if (attributes.has(ID)) {
      out.bytes(ID, attributes.bytes(ID)); // mostly tells a later flow of the same ends apart
    }
    if (attributes.has(ZONE)) {
      out.bytes(ZONE, attributes.bytes(ZONE));
    }
    return out.written();
  }

  static Flow read(MessageReader message) throws MalformedMessage {
    return new Flow(message.family(), Attributes.of(message.attributes(), ZONE));
  }

  /** 2 for IPv4, 10 for IPv6. */
  public int family() {
    return family;
  }

  /** Its packets as they came. */
  public Tuple original() {
    return original;
  }

  /** The packets that answer them: sent to the source that the flow got. */
  public Tuple reply() {
    return reply;
  }

  /** What rules marked it with. */
  public int mark() {
    return mark;
  }

  /** Whether its packets leave with another source than they came with. */
  public boolean isSourceTranslated() {
    return (status & SOURCE_TRANSLATED) != 0;
  }

  /** Names it in a request, in the kernel's own bytes. */
  void name(MessageWriter out) {
    out.attributes(key);
  }

  @Override
  public String toString() {
    return original + ", answered " + reply;
  }
}
