package ipmasq.policy;

import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.util.List;
import java.util.Optional;

/**
 * How a packet gets another source.
 *
 * @param addresses the source addresses to choose from; empty: that of the interface it leaves by
 * @param ports the source ports to choose from, for tcp, udp and sctp; empty: the kernel's choice
 * @param randomFully whether the kernel randomizes ports fully, which avoids races between flows
 */
public record Translation(Optional<IpRange> addresses, List<PortRange> ports, boolean randomFully) {
  public Translation {
    ports = List.copyOf(ports);
  }

  /** {@code masquerade ports 1024-2000,3000 random-fully}. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append(addresses.isPresent() ? "snat to " + addresses.get() : "masquerade");
    for (int i = 0; i < ports.size(); i++) {
      text.append(i == 0 ? " ports " : ",").append(ports.get(i));
    }
    return text.append(randomFully ? " random-fully" : "").toString();
  }
}
