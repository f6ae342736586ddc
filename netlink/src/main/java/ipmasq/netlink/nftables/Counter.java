package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/** Counts packets and bytes. */
public record Counter(long packets, long bytes) implements Expression {
  static final int HIGHEST = 2;
  private static final int NFTA_COUNTER_BYTES = 1;
  private static final int NFTA_COUNTER_PACKETS = 2;

  void write(MessageWriter out) {
    out.u64(NFTA_COUNTER_BYTES, bytes).u64(NFTA_COUNTER_PACKETS, packets);
  }

  static Counter read(Attributes attributes) throws MalformedMessage {
    return new Counter(attributes.u64(NFTA_COUNTER_PACKETS), attributes.u64(NFTA_COUNTER_BYTES));
  }

  @Override
  public String toString() {
    return "counter packets "
        + Long.toUnsignedString(packets)
        + " bytes "
        + Long.toUnsignedString(bytes);
  }
}
