package ipmasq.backend.nftables;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.plan.Counter;
import java.util.Map;

/**
 * What is in one of our sets.
 *
 * @param blocks its ranges, in order
 * @param counters what matched them; empty if the set does not count
 * @param odd whether some elements are no blocks, as ours all are, but other ranges
 */
record SetContent(Cidrs blocks, Map<Cidr, Counter> counters, boolean odd) {
  SetContent {
    counters = Map.copyOf(counters);
  }

  /** What was written and not read: nothing is known of its counters. */
  static SetContent written(Cidrs blocks) {
    return new SetContent(blocks, Map.of(), false);
  }
}
