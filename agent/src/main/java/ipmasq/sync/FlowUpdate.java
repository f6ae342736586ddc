package ipmasq.sync;

import ipmasq.backend.Flows.Forgotten;
import ipmasq.config.Config.Conntrack;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import ipmasq.policy.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Makes established flows follow a new policy, if the config asks for it. Used by one thread. */
final class FlowUpdate {
  private final Host host;
  private final Conntrack mode;
  private final List<String> warnings = new ArrayList<>();
  private int flows;

  FlowUpdate(Host host, Conntrack mode) {
    this.host = host;
    this.mode = mode;
  }

  /** A policy has replaced another. */
  void revision(Family family, Policy before, Policy after) {
    if (mode == Conntrack.KEEP) {
      return;
    }
    Set<Ip> own = host.addresses().get();
    boolean udpOnly = mode == Conntrack.UDP;
    switch (host.flows().forget(family, new Revision(before, after), udpOnly, own)) {
      case Forgotten.Some(var count) -> flows += count;
      case Forgotten.Failed(var failure) -> warnings.add(failure.toString());
    }
  }

  /** How many flows were made to follow. */
  int flows() {
    return flows;
  }

  /** Why some could not be. */
  List<String> warnings() {
    return warnings;
  }
}
