package ipmasq.sync;

import ipmasq.backend.Flows;
import ipmasq.config.Config;
import ipmasq.config.Key;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * What a sync asks about the node besides its rules.
 *
 * @param addresses those of its interfaces; asked only if the config needs them
 */
public record Host(Supplier<Set<Ip>> addresses, Flows flows) {
  /** Knows nothing. */
  static final Host UNKNOWN = new Host(Set::of, Flows.NONE);

  /** Whether replies to {@code outputAddress} would reach this node. */
  List<String> warnings(Config config) {
    List<String> warnings = new ArrayList<>();
    for (IpRange range : config.of(Key.OUTPUT_ADDRESS)) {
      BigInteger size =
          new BigInteger(1, range.last().bytes())
              .subtract(new BigInteger(1, range.first().bytes()))
              .add(BigInteger.ONE);
      long held = addresses.get().stream().filter(range::contains).count();
      if (held == 0) {
        warnings.add(
            "no interface of this node holds outputAddress "
                + range
                + ": answers come back only if the network routes them here anyway");
      } else if (BigInteger.valueOf(held).compareTo(size) < 0) {
        String part = held + " of the " + size + " addresses of outputAddress " + range;
        warnings.add("interfaces of this node hold only " + part);
      }
    }
    return warnings;
  }
}
