package ipmasq.status;

import ipmasq.hook.Flow;
import ipmasq.net.Ip;
import ipmasq.net.Protocols;
import ipmasq.policy.Policy;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What happens to a packet to …?
 *
 * @param protocol {@code tcp} and so on, if given
 * @param via the interface that it leaves by, if given
 */
public record ExplainRequest(
    Ip to, Optional<Ip> from, Optional<String> protocol, OptionalInt port, Optional<String> via) {
  public ExplainRequest {
    from = from.filter(ip -> ip.family() == to.family());
  }

  /**
   * The flow for the walk; anything not given is taken to be a pod's, within the policy's scope.
   */
  Flow flow(Optional<Policy> policy, List<String> interfaces) {
    Flow flow = Flow.to(to).local(RouteLookup.isLocal(to)).by(protocol, port).via(interfaces);
    return from.isPresent()
        ? flow.from(from.get(), ofNode(), RouteLookup.cameBy(from.get()))
        : flow.from(policy.<List<ipmasq.net.Cidr>>map(Policy::sources).orElse(List.of()));
  }

  /** Whether the packet is the node's own. */
  public boolean ofNode() {
    return from.filter(RouteLookup::isLocal).isPresent();
  }

  /** Whether the protocol and, where it has any, the port are known. */
  boolean isPortKnown() {
    return protocol.filter(name -> port.isPresent() || name.equals("icmp")).isPresent();
  }

  /** The number of the protocol; 0: unknown. */
  int protocolNumber() {
    return protocol.map(name -> Protocols.number(name, to.family())).orElse(0);
  }

  /** The interfaces that it leaves by: as given, else by the kernel's routing. */
  List<String> interfaces() {
    return via.map(List::of).orElseGet(() -> RouteLookup.interfaces(this));
  }
}
