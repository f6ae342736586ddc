package ipmasq.cli;

import ipmasq.backend.Backend;
import ipmasq.backend.Chosen;
import ipmasq.backend.iptables.Iptables;
import ipmasq.config.Config;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Makes backends and keeps them: each holds what it learned of the node. Used by one thread. */
final class Backends {
  private final Map<String, Iptables> byChain = new HashMap<>();

  /** The backend for a config. */
  Chosen forConfig(Config config) {
    return new Chosen(iptables(config), "the default", List.of());
  }

  /** Every backend that may have rules of ours. */
  List<Backend> all(Config config) {
    return List.of(iptables(config));
  }

  private Iptables iptables(Config config) {
    return byChain.computeIfAbsent(config.masqChain(), Iptables::ofNode);
  }
}
