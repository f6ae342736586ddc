package ipmasq.plan;

import ipmasq.net.Cidr;
import java.util.Map;

/**
 * What the rules of one family have seen.
 *
 * @param ranges by the range that decided; one that is not counted is missing
 * @param exempted packets that kept their source because of a range
 * @param translated packets that got another source
 */
public record Tally(Map<Cidr, Counter> ranges, Counter exempted, Counter translated) {
  public Tally {
    ranges = Map.copyOf(ranges);
  }
}
