package ipmasq.flows;

import ipmasq.net.Ip;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.route.Route;
import ipmasq.netlink.route.RouteQuery;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The kernel's own answers, with a limit on queries. Used by one thread. */
public final class KernelRoutes implements Routes, AutoCloseable {
  private static final int MOST = 64;

  private final RouteQuery query;
  private final Map<Ends, Optional<Set<String>>> known = new HashMap<>();

  private record Ends(Ip from, Ip to) {}

  private KernelRoutes(RouteQuery query) {
    this.query = query;
  }

  public static KernelRoutes open() throws NetlinkUnavailable {
    return new KernelRoutes(RouteQuery.open());
  }

  @Override
  public Optional<Set<String>> interfaces(Ip from, Ip to) {
    Ends ends = new Ends(from, to);
    if (!known.containsKey(ends) && known.size() < MOST) {
      known.put(ends, ask(from, to));
    }
    return known.getOrDefault(ends, Optional.empty());
  }

  /** Looks them up as packets that came in by the interface toward their source. */
  private Optional<Set<String>> ask(Ip from, Ip to) {
    Optional<Route> route = query.to(to.bytes());
    Optional<Route> back = query.to(from.bytes()).filter(r -> r.interfaces().size() == 1);
    Optional<Route> forwarded =
        back.flatMap(
            r -> query.forwarded(to.bytes(), from.bytes(), r.interfaces().iterator().next()));
    return forwarded
        .or(() -> route)
        .filter(r -> r.kind() == Route.RouteKind.UNICAST)
        .flatMap(KernelRoutes::names);
  }

  private static Optional<Set<String>> names(Route route) {
    Set<String> names = new HashSet<>();
    try {
      for (int index : route.interfaces()) {
        NetworkInterface found = index > 0 ? NetworkInterface.getByIndex(index) : null;
        if (found == null) {
          return Optional.empty();
        }
        names.add(found.getName());
      }
    } catch (SocketException unknown) {
      return Optional.empty();
    }
    return Optional.of(names);
  }

  @Override
  public void close() {
    query.close();
  }
}
