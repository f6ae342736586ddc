package ipmasq.plan;

/** A rule's counter. NAT rules see only the first packet of each connection. */
public record Counter(long packets, long bytes) {
  public static final Counter NONE = new Counter(0, 0);

  public Counter plus(Counter other) {
    return new Counter(packets + other.packets, bytes + other.bytes);
  }
}
