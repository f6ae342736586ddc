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
}
