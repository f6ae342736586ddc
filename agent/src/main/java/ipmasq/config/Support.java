package ipmasq.config;

import ipmasq.config.Config.BackendChoice;
import ipmasq.config.Config.Conntrack;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Which wishes a backend cannot fulfil. */
public final class Support {
  private Support() {}

  /**
   * The keys that ask for more than the backend can do; {@code AUTO} is asked again once chosen.
   */
  public static List<Key<?>> missing(Config config, BackendChoice backend) {
    return switch (backend) {
      case AUTO, NFTABLES -> List.of();
      case IPTABLES -> config.pin() ? List.of(Key.PIN) : List.of();
      case CNI -> beyondCni(config);
    };
  }

  /** A CNI config holds a list of exempt ranges and nothing else. */
  private static List<Key<?>> beyondCni(Config config) {
    List<Key<?>> keys = new ArrayList<>();
    if (!config.sourceCidrs().isEmpty()) {
      keys.add(Key.SOURCE_CIDRS);
    }
    if (!config.outputInterfaces().isEmpty()) {
      keys.add(Key.OUTPUT_INTERFACE);
    }
    if (!config.outputAddresses().isEmpty()) {
      keys.add(Key.OUTPUT_ADDRESS);
    }
    if (!config.toPorts().isEmpty()) {
      keys.add(Key.TO_PORTS);
    }
    if (config.conntrack() != Conntrack.KEEP) {
      keys.add(Key.CONNTRACK);
    }
    if (config.pin()) {
      keys.add(Key.PIN);
    }
    return keys;
  }

  static String name(BackendChoice backend) {
    return backend.name().toLowerCase(Locale.ROOT);
  }
}
