package ipmasq.backend.nftables;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.netlink.nftables.Counter;
import ipmasq.netlink.nftables.ElementVisitor;
import ipmasq.netlink.nftables.NftSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Turns a set's elements into blocks. The kernel lists them from last to first: for each range
 * first the key after its end, then its start. The end is missing if the range reaches the last
 * key.
 */
final class SetContentReader implements ElementVisitor {
  private final boolean counted;
  private final Cidrs.Collector blocks = new Cidrs.Collector();
  private final Map<Cidr, ipmasq.plan.Counter> counters = new HashMap<>();
  private Optional<Ip> end = Optional.empty();
  private boolean odd;

  SetContentReader(NftSet set) {
    counted = set.counted();
  }

  @Override
  public void element(byte[] key, boolean ends, Counter counter) {
    Ip at = Ip.ofBytes(key);
    if (ends) {
      end = at.previous();
      return;
    }
    IpRange range = new IpRange(at, end.orElse(at.family().all().last()));
    end = Optional.empty();
    Optional<Cidr> block = range.block();
    if (block.isPresent()) {
      blocks.add(block.get());
      if (counted) {
        counters.put(block.get(), new ipmasq.plan.Counter(counter.packets(), counter.bytes()));
      }
    } else {
      odd = true;
      blocks.addAll(range.blocks().reversed());
    }
  }

  SetContent content() {
    return new SetContent(Cidrs.copyOf(blocks).reversed(), counters, odd);
  }
}
