package ipmasq.plan;

/** What a rule has seen: of each connection the first packet only, for nat rules see no other. */
public record Counter(long packets, long bytes) {
  public static final Counter NONE = new Counter(0, 0);

  public Counter plus(Counter other) {
    return new Counter(packets + other.packets, bytes + other.bytes);
  }
}
