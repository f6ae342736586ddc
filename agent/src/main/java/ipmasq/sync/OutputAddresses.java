package ipmasq.sync;

import ipmasq.config.Config;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Whether replies to {@code outputAddress} would reach this node. */
final class OutputAddresses {
  private OutputAddresses() {}

  /** The warnings, given the addresses of the node's interfaces. */
  static List<String> warnings(Config config, Set<Ip> held) {
    List<String> warnings = new ArrayList<>();
    for (IpRange range : config.outputAddresses()) {
      long found = held.stream().filter(range::contains).count();
      if (found == 0) {
        warnings.add(
            "no interface of this node holds outputAddress "
                + range
                + ": answers come back only if the network sends them here all the same");
      } else if (BigInteger.valueOf(found).compareTo(size(range)) < 0) {
        warnings.add(
            "interfaces of this node hold only "
                + found
                + " of the "
                + size(range)
                + " addresses of outputAddress "
                + range);
      }
    }
    return warnings;
  }

  private static BigInteger size(IpRange range) {
    return new BigInteger(1, range.last().bytes())
        .subtract(new BigInteger(1, range.first().bytes()))
        .add(BigInteger.ONE);
  }
}
