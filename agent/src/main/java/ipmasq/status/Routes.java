package ipmasq.status;

import ipmasq.hook.Flow;
import ipmasq.net.Ip;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.Optional;
import java.util.OptionalInt;

/** What the node's own routes say of a destination. */
public final class Routes {
  private static final int ANY_PORT = 9;

  private Routes() {}

  /** Whether it is an address of this node. */
  public static boolean isLocal(Ip ip) {
    try {
      InetAddress address = InetAddress.getByAddress(ip.bytes());
      return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (IOException unknown) {
      return false;
    }
  }

  /**
   * The interface that packets there leave by. Connecting a datagram socket sends nothing, but has
   * the kernel choose a route, and with it an address of the interface.
   */
  static Optional<String> interfaceTo(Ip ip) {
    try (DatagramSocket socket = new DatagramSocket()) {
      socket.connect(new InetSocketAddress(InetAddress.getByAddress(ip.bytes()), ANY_PORT));
      NetworkInterface out = NetworkInterface.getByInetAddress(socket.getLocalAddress());
      return Optional.ofNullable(out).map(NetworkInterface::getName);
    } catch (IOException | RuntimeException noRoute) {
      return Optional.empty();
    }
  }

  /** What is known of packets to a destination. */
  public static Flow flow(Ip to, Optional<Ip> from, Optional<String> protocol, OptionalInt port) {
    return new Flow(
        from.stream().map(Flow::single).toList(),
        Flow.single(to),
        isLocal(to),
        protocol,
        port,
        interfaceTo(to).stream().toList());
  }
}
