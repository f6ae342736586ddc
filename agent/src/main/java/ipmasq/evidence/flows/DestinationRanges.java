package ipmasq.evidence.flows;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/** The ranges that policies name, to call a destination by the narrowest of them. Immutable. */
final class DestinationRanges {
  private final Cidrs sorted;
  private final int[] prefixes;

  DestinationRanges(Collection<Policy> policies) {
    List<Cidr> all = new ArrayList<>();
    policies.forEach(policy -> policy.destinations().forEach(each -> all.add(each.range())));
    all.sort(null);
    sorted = Cidrs.copyOf(all);
    prefixes = all.stream().mapToInt(range -> -range.prefix()).sorted().distinct().toArray();
    Arrays.setAll(prefixes, i -> -prefixes[i]);
  }

  /** The narrowest range that holds it; all addresses of its family if none does. */
  Cidr of(Ip destination) {
    for (int prefix : prefixes) {
      if (prefix <= destination.family().bits()) {
        Cidr range = Cidr.around(destination, prefix);
        if (Collections.binarySearch(sorted, range) >= 0) {
          return range;
        }
      }
    }
    return Cidr.around(destination, 0);
  }
}
