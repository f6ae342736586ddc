package ipmasq.app;

import ipmasq.evidence.flows.FlowJudge;
import ipmasq.evidence.neighbours.NodeLinks;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import java.io.IOException;
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
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The addresses of this node's interfaces. */
public final class NodeAddresses {
  private static final int DOCKER_NETWORK = "br-0123456789ab".length();

  private NodeAddresses() {}

  /** An address on an interface, and the network that it is in. */
  private record OnLink(NetworkInterface link, InterfaceAddress address, Ip ip, Cidr network) {
    /** Whether it is on a bridge of Docker, podman or libvirt. */
    boolean isOfAnotherRuntime() {
      String name = link.getName();
      return name.startsWith("docker")
          || name.startsWith("br-") && name.length() == DOCKER_NETWORK
          || name.startsWith("podman")
          || name.startsWith("cni-podman")
          || name.startsWith("virbr");
    }
  }

  /** All of them; none if the system does not tell. */
  private static List<OnLink> list() {
    List<OnLink> all = new ArrayList<>();
    try {
      for (NetworkInterface link : NetworkInterface.networkInterfaces().toList()) {
        for (InterfaceAddress address : link.getInterfaceAddresses()) {
          Ip ip = Ip.ofBytes(address.getAddress().getAddress());
          all.add(new OnLink(link, address, ip, Cidr.around(ip, address.getNetworkPrefixLength())));
        }
      }
    } catch (SocketException unknown) {
      return List.of();
    }
    return all;
  }

  static Set<Ip> all() {
    return list().stream().map(OnLink::ip).collect(Collectors.toSet());
  }

  /**
   * Its interfaces and addresses, and the networks of other runtimes' bridges and of all others.
   */
  public static NodeLinks links() {
    List<Cidr> own = new ArrayList<>();
    List<Cidr> runtimes = new ArrayList<>();
    List<Cidr> others = new ArrayList<>();
    for (OnLink each : list()) {
      own.add(new Cidr(each.ip, each.ip.family().bits()));
      if (!each.link.getName().equals("lo")) {
        (each.isOfAnotherRuntime() ? runtimes : others).add(each.network);
      }
    }
    return new NodeLinks(names(), own, runtimes, others);
  }

  /** The kernel's own list, because Java leaves out interfaces without addresses. */
  private static List<String> names() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/thread-self/net/dev"))) {
      return lines
          .filter(line -> line.contains(":"))
          .map(line -> line.substring(0, line.indexOf(':')).strip())
          .filter(name -> !name.equals("lo"))
          .toList();
    } catch (IOException unknown) {
      return List.of();
    }
  }

  /**
   * The same with broadcast addresses, and the networks of runtimes whose hosts are not pods; empty
   * if there are none, or the system does not tell.
   */
  public static Optional<FlowJudge.OwnAddresses> forFlows() {
    Set<Ip> own = new HashSet<>();
    List<Cidr> others = new ArrayList<>();
    for (OnLink each : list()) {
      own.add(each.ip);
      if (each.ip.family() == Family.IPV4 && each.address.getNetworkPrefixLength() < 31) {
        own.add(each.network.last()); // broadcast, even if the address was added without one
      }
      if (each.address.getBroadcast() != null) {
        own.add(Ip.ofBytes(each.address.getBroadcast().getAddress()));
      }
      if (each.isOfAnotherRuntime()) {
        others.add(each.network);
      }
    }
    return own.isEmpty() ? Optional.empty() : Optional.of(new FlowJudge.OwnAddresses(own, others));
  }
}
