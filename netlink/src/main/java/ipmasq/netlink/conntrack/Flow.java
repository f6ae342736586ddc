package ipmasq.netlink.conntrack;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.Message;
import ipmasq.netlink.MessageWriter;
import org.jspecify.annotations.Nullable;

/** A flow that the kernel tracks. Immutable. */
public final class Flow {
  private static final int CTA_TUPLE_ORIG = 1;
  private static final int CTA_TUPLE_REPLY = 2;
  private static final int CTA_STATUS = 3;
  private static final int CTA_ID = 12;
  private static final int CTA_ZONE = 18;
  private static final int CTA_TUPLE_ZONE = 3; // where only one direction has a zone
  private static final int IPS_EXPECTED = 1;
  private static final int IPS_SEEN_REPLY = 1 << 1;
  private static final int IPS_SRC_NAT = 1 << 4;
  private static final int IPS_DST_NAT = 1 << 5;
  private static final int IPS_SRC_NAT_DONE = 1 << 7;

  private final int family;
  private final byte[] tuple;
  private final byte @Nullable [] id;
  private final byte @Nullable [] zone;
  private final Tuple original;
  private final Tuple reply;
  private final int status;
  private final boolean zoned;

  private Flow(int family, Attributes attributes) throws MalformedMessage {
    this.family = family;
    tuple = attributes.bytes(CTA_TUPLE_ORIG);
    id = attributes.has(CTA_ID) ? attributes.bytes(CTA_ID) : null;
    zone = attributes.has(CTA_ZONE) ? attributes.bytes(CTA_ZONE) : null;
    original = Tuple.read(attributes.nested(CTA_TUPLE_ORIG));
    reply = Tuple.read(attributes.nested(CTA_TUPLE_REPLY));
    status = attributes.u32(CTA_STATUS, 0);
    zoned =
        zone != null
            || attributes.nested(CTA_TUPLE_ORIG).has(CTA_TUPLE_ZONE)
            || attributes.nested(CTA_TUPLE_REPLY).has(CTA_TUPLE_ZONE);
  }

  static Flow read(Message message) throws MalformedMessage {
    return new Flow(message.family(), message.attributes());
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

  /** Whether its packets leave with another source than they came with. */
  public boolean isSourceTranslated() {
    return (status & IPS_SRC_NAT) != 0;
  }

  /** Whether its packets go elsewhere than they were sent: to an endpoint of a Service. */
  public boolean isDestinationTranslated() {
    return (status & IPS_DST_NAT) != 0;
  }

  /** Whether anybody answered. */
  public boolean hasSeenReply() {
    return (status & IPS_SEEN_REPLY) != 0;
  }

  /**
   * Whether the nat rules of this host decided about its source: not where another flow led to it
   * and it follows that one, where it is in a zone of its own as Open vSwitch's are, or where no
   * nat hook saw it, as in a bridge.
   */
  public boolean isDecidedByNatRules() {
    return (status & IPS_SRC_NAT_DONE) != 0 && (status & IPS_EXPECTED) == 0 && !zoned;
  }

  /** Names the flow that began with such packets in a request. */
  static void name(MessageWriter out, Tuple original) {
    int tuple = out.nest(CTA_TUPLE_ORIG);
    original.write(out);
    out.end(tuple);
  }

  /** Names it in a request, in the kernel's own bytes. */
  void name(MessageWriter out) {
    out.nested(CTA_TUPLE_ORIG, tuple);
    if (id != null) { // mostly tells a later flow of the same ends apart
      out.bytes(CTA_ID, id);
    }
    if (zone != null) {
      out.bytes(CTA_ZONE, zone);
    }
  }
}
