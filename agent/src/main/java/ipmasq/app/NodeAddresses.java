package ipmasq.app;

import ipmasq.flows.FlowJudge;
import ipmasq.hook.NodeLinks;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The addresses of this node's interfaces. */
public final class NodeAddresses {
  private static final int DOCKER_NETWORK = "br-0123456789ab".length();

  private NodeAddresses() {}

  /** All of them; none if the system does not tell. */
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

  /** Its interfaces, and the networks of other runtimes' bridges and of all others. */
  public static NodeLinks links() {
    List<Cidr> runtimes = new ArrayList<>();
    List<Cidr> others = new ArrayList<>();
    try {
      for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
        for (InterfaceAddress address : each.getInterfaceAddresses()) {
          Ip ip = Ip.ofBytes(address.getAddress().getAddress());
          Cidr network = network(ip, address.getNetworkPrefixLength());
          if (!each.isLoopback()) {
            (isOfAnotherRuntime(each.getName()) ? runtimes : others).add(network);
          }
        }
      }
    } catch (SocketException unknown) {
      return NodeLinks.UNKNOWN;
    }
    return new NodeLinks(names(), runtimes, others);
  }

  /** The kernel's own list, because Java leaves out interfaces without addresses. */
  private static List<String> names() {
    List<String> names = new ArrayList<>();
    try {
      for (String line : Files.readAllLines(Path.of("/proc/thread-self/net/dev"))) {
        int colon = line.indexOf(':');
        String name = colon < 0 ? "" : line.substring(0, colon).strip();
        if (!name.isEmpty() && !name.equals("lo")) {
          names.add(name);
        }
      }
    } catch (IOException unknown) {
      return List.of();
    }
    return names;
  }

  /**
   * The same with broadcast addresses, and the networks of runtimes whose hosts are not pods; empty
   * if the system does not tell.
   */
  static Optional<FlowJudge.OwnAddresses> forFlows() {
    Set<Ip> own = new HashSet<>();
    List<Cidr> others = new ArrayList<>();
    try {
      for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
        for (InterfaceAddress address : each.getInterfaceAddresses()) {
          Ip ip = Ip.ofBytes(address.getAddress().getAddress());
          own.add(ip);
          Cidr network = network(ip, address.getNetworkPrefixLength());
          if (ip.family() == Family.IPV4 && address.getNetworkPrefixLength() < 31) {
            own.add(network.last()); // broadcast, whether or not the address was added with one
          }
          if (address.getBroadcast() != null) {
            own.add(Ip.ofBytes(address.getBroadcast().getAddress()));
          }
          if (isOfAnotherRuntime(each.getName())) {
            others.add(network);
          }
        }
      }
    } catch (SocketException unknown) {
      return Optional.empty();
    }
    return Optional.of(new FlowJudge.OwnAddresses(own, others));
  }

  /** Whether it is a bridge of Docker, podman or libvirt. */
  private static boolean isOfAnotherRuntime(String name) {
    return name.startsWith("docker")
        || name.startsWith("br-") && name.length() == DOCKER_NETWORK
        || name.startsWith("podman")
        || name.startsWith("cni-podman")
        || name.startsWith("virbr");
  }

  private static Cidr network(Ip ip, int prefix) {
    return switch (Cidr.parse(ip + "/" + prefix)) {
      case Cidr.ParsedCidr.Block(var block) -> block;
      case Cidr.ParsedCidr.Misaligned(_, var network) -> network;
      case Cidr.ParsedCidr.V4Mapped _, Cidr.ParsedCidr.MalformedCidr _ ->
          new Cidr(ip, ip.family().bits());
    };
  }
}
