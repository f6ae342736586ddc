package ipmasq.loop;

import ipmasq.backend.Flows.Forgotten;
import ipmasq.config.Config;
import ipmasq.config.Config.Conntrack;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import ipmasq.policy.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What one pass does beyond the rules, where the config asks for it: flows under way are made to
 * follow a new policy, and the addresses that packets get are looked for on the node. Used by one
 * thread.
 */
final class Follow {
  private final Host host;
  private final Config config;
  private final List<String> warnings = new ArrayList<>();
  private @Nullable Set<Ip> addresses;
  private int flows;

  Follow(Host host, Config config) {
    this.host = host;
    this.config = config;
  }

  /** A policy has taken another one's place. */
  void revision(Family family, Policy before, Policy after) {
    if (config.conntrack() == Conntrack.KEEP) {
      return;
    }
    boolean udpOnly = config.conntrack() == Conntrack.UDP;
    switch (host.flows().forget(family, new Revision(before, after), udpOnly, addresses())) {
      case Forgotten.Some(var count) -> flows += count;
      case Forgotten.Failed(var failure) -> warnings.add(failure.toString());
    }
  }

  /** What the backend has to say of what it saw. */
  void remarks(List<String> remarks) {
    warnings.addAll(remarks);
  }

  int flows() {
    return flows;
  }

  List<String> warnings() {
    if (!config.outputAddresses().isEmpty()) {
      warnings.addAll(OutputAddresses.warnings(config, addresses()));
    }
    return warnings;
  }

  private Set<Ip> addresses() {
    Set<Ip> known = addresses;
    if (known == null) {
      known = host.addresses().get();
      addresses = known;
    }
    return known;
  }
}
