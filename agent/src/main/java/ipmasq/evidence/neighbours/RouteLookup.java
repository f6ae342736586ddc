package ipmasq.evidence.neighbours;

import ipmasq.evidence.flows.FlowEnds;
import ipmasq.evidence.flows.KernelRoutes;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.route.Route;
import ipmasq.netlink.route.RouteQuery;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** What the node's routes and addresses say about packets. */
final class RouteLookup {
  private static final Cidr LINK_LOCAL = Cidr.of("fe80::/10");

  private RouteLookup() {}

  /** Whether it is an address of this node, by the kernel's routing. */
  static boolean isLocal(Ip ip) {
    try (RouteQuery routes = RouteQuery.open()) {
      return routes.to(ip.bytes()).filter(r -> r.kind() == Route.Kind.LOCAL).isPresent();
    } catch (NetlinkUnavailable | LinkageError notLinux) {
      return isAssigned(ip);
    }
  }

  private static boolean isAssigned(Ip ip) {
    try {
      InetAddress address = InetAddress.getByAddress(ip.bytes());
      return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (IOException unknown) {
      return false;
    }
  }

  private static <T> Optional<T> ask(Function<KernelRoutes, Optional<T>> question) {
    try (KernelRoutes routes = KernelRoutes.open()) {
      return question.apply(routes);
    } catch (NetlinkUnavailable unavailable) {
      return Optional.empty();
    }
  }

  /**
   * The interfaces that packets may leave by; none if there is no route, or it is not known.
   * Forwarded packets are looked up as such, with the interface toward their source as input,
   * because policy routing may treat them differently from the node's own.
   */
  static List<String> interfaces(Question it, boolean ofNode) {
    Optional<Set<String>> found =
        ask(
            routes -> {
              if (routes.dependsOnMore(it.family(), it.from().isPresent(), it.isPortKnown())) {
                return Optional.empty();
              }
              int protocol = it.protocolNumber();
              int port = it.port().orElse(0);
              return it.from().isPresent() && !ofNode
                  ? routes.interfaces(new FlowEnds(it.from().get(), it.to(), protocol, port))
                  : routes.interfaces(it.from(), it.to(), protocol, port);
            });
    return found.map(List::copyOf).orElse(List.of());
  }

  /** Whether the node's routing leads nowhere from there. */
  static boolean isUnreachable(Ip to) {
    return ask(routes -> Optional.of(routes.isUnreachable(to))).orElse(false);
  }

  /** The interface that packets from there come in by, if there is only one way. */
  static Optional<String> cameBy(Ip from) {
    return ask(routes -> routes.cameBy(from));
  }

  /** The interface address that packets to there get, if there is only one to choose from. */
  static Optional<Ip> onlyAddress(String name, Ip to) {
    try {
      List<Ip> addresses =
          switch (to.family()) {
            case IPV4 -> addresses4(name);
            case IPV6 -> addresses6(name, LINK_LOCAL.contains(to) ? "20" : "00");
          };
      return addresses.size() == 1 ? Optional.of(addresses.getFirst()) : Optional.empty();
    } catch (IOException unknown) {
      return Optional.empty();
    }
  }

  private static List<Ip> addresses4(String name) throws SocketException {
    NetworkInterface found = NetworkInterface.getByName(name);
    return found == null
        ? List.of()
        : found.getInterfaceAddresses().stream()
            .map(it -> Ip.ofBytes(it.getAddress().getAddress()))
            .filter(it -> it.family() == Family.IPV4)
            .toList();
  }

  /**
   * The kernel's own list: {@code address index prefix scope flags name}, all but one in hex.
   *
   * @param scope that of the destination: the source gets the same
   */
  private static List<Ip> addresses6(String name, String scope) throws IOException {
    return Files.readAllLines(Path.of("/proc/thread-self/net/if_inet6")).stream()
        .map(line -> line.trim().split(" +"))
        .filter(words -> words.length == 6 && words[3].equals(scope) && words[5].equals(name))
        .map(words -> Ip.ofBytes(HexFormat.of().parseHex(words[0])))
        .toList();
  }
}
