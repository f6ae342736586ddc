package ipmasq.backend.nftables;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.netlink.nftables.Element;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.plan.Tally.Counter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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

  /**
   * Turns a set's elements into blocks. The kernel lists them from last to first: for each range
   * first the key after its end, then its start. The end is missing if the range reaches the last
   * key.
   */
  static final class Reader {
    private final boolean counted;
    private final List<Cidr> blocks = new ArrayList<>();
    private final Map<Cidr, Counter> counters = new HashMap<>();
    private Optional<Ip> end = Optional.empty();
    private boolean odd;

    Reader(NftSet set) {
      counted = set.counted();
    }

    void add(Element element) {
      if (element.key().isEmpty()) {
        return; // the one for all other keys
      }
      Ip at = Ip.ofBytes(element.key().get().bytes());
      if (element.end()) {
        end = at.previous();
        return;
      }
      IpRange range = new IpRange(at, end.orElse(at.family().all().last()));
      end = Optional.empty();
      Optional<Cidr> block = range.block();
      if (block.isPresent()) {
        blocks.add(block.get());
        if (counted) {
          counters.put(
              block.get(), new Counter(element.counter().packets(), element.counter().bytes()));
        }
      } else {
        odd = true;
        blocks.addAll(range.blocks().reversed());
      }
    }

    SetContent content() {
      return new SetContent(Cidrs.copyOf(blocks.reversed()), counters, odd);
    }
  }
}
