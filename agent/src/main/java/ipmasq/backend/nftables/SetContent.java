package ipmasq.backend.nftables;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.plan.Counter;
import java.util.Map;

/**
 * The content of one of our sets.
 *
 * @param blocks its ranges, in order
 * @param counters what matched them; empty if the set does not count
 * @param odd whether some elements are ranges but not CIDR blocks, as ours always are
 */
record SetContent(Cidrs blocks, Map<Cidr, Counter> counters, boolean odd) {
  SetContent {
    counters = Map.copyOf(counters);
  }

  /** Content that was written, not read: its counters are unknown. */
  static SetContent written(Cidrs blocks) {
    return new SetContent(blocks, Map.of(), false);
  }
}
