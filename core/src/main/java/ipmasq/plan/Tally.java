package ipmasq.plan;

import ipmasq.net.Cidr;
import java.util.Map;

/**
 * The counters of one family's rules.
 *
 * @param ranges by the range that decided; ranges without a counter are missing
 * @param exempted packets that kept their source because of a range
 * @param translated packets that got another source
 */
public record Tally(Map<Cidr, Counter> ranges, Counter exempted, Counter translated) {
  public Tally {
    ranges = Map.copyOf(ranges);
  }

  /** A rule's counter. NAT rules see only the first packet of each connection. */
  public record Counter(long packets, long bytes) {
    public static final Counter NONE = new Counter(0, 0);

    public Counter plus(Counter other) {
      return new Counter(packets + other.packets, bytes + other.bytes);
    }
  }
}
