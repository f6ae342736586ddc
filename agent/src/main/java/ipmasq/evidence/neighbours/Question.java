package ipmasq.evidence.neighbours;

import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.Protocols;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What happens to a packet to …? What is left open may be anything that a pod sends.
 *
 * @param protocol {@code tcp} and so on
 * @param via the interface that it leaves by; empty: the kernel's routing tells
 */
public record Question(
    Ip to, Optional<Ip> from, Optional<String> protocol, OptionalInt port, Optional<String> via) {
  public Question {
    from = from.filter(ip -> ip.family() == to.family());
  }

  public Family family() {
    return to.family();
  }

  /** Whether the protocol and, where it has any, the port are known. */
  boolean isPortKnown() {
    return protocol.filter(name -> port.isPresent() || name.equals("icmp")).isPresent();
  }

  /** The number of the protocol; 0: unknown. */
  int protocolNumber() {
    return protocol.map(name -> Protocols.number(name, to.family())).orElse(0);
  }
}
