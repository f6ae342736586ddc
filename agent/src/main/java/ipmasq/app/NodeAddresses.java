package ipmasq.app;

import ipmasq.net.Ip;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.HashSet;
import java.util.Set;

/** The addresses of this node's interfaces. */
final class NodeAddresses {
  private NodeAddresses() {}

  /** All of them; none where the system does not tell. */
  static Set<Ip> all() {
    Set<Ip> all = new HashSet<>();
    try {
      for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
        for (InetAddress address : each.inetAddresses().toList()) {
          all.add(Ip.ofBytes(address.getAddress()));
        }
      }
    } catch (SocketException unknown) {
      return Set.of();
    }
    return all;
  }
}
