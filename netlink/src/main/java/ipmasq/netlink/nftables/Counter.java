package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Counts what comes by. */
public record Counter(long packets, long bytes) implements Expression {
  static final int HIGHEST = 2;
  private static final int BYTES = 1;
  private static final int PACKETS = 2;

  void write(MessageWriter out) {
    out.u64(BYTES, bytes).u64(PACKETS, packets);
  }

  static Counter read(Attributes attributes) throws MalformedMessage {
    return new Counter(attributes.u64(PACKETS), attributes.u64(BYTES));
  }

  @Override
  public String toString() {
    return "counter packets "
        + Long.toUnsignedString(packets)
        + " bytes "
        + Long.toUnsignedString(bytes);
  }
}
