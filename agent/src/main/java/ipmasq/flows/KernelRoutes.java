package ipmasq.flows;

import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.route.Route;
import ipmasq.netlink.route.RouteQuery;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The kernel's own answers, with a limit on queries. Used by one thread. */
public final class KernelRoutes implements Routes, AutoCloseable {
  private static final int MOST = 64;

  private final RouteQuery query;
  private final Map<Ends, Ways> known = new HashMap<>();
  private final Map<Family, Set<Integer>> marks = new EnumMap<>(Family.class);

  private record Ends(Ip from, Ip to) {}

  /** Where packets go: by which interfaces they leave, and whether a mark may keep them here. */
  private record Ways(Optional<Set<String>> interfaces, boolean mayStay) {
    static final Ways UNKNOWN = new Ways(Optional.empty(), true);
  }

  private KernelRoutes(RouteQuery query) {
    this.query = query;
  }

  public static KernelRoutes open() throws NetlinkUnavailable {
    return new KernelRoutes(RouteQuery.open());
  }

  @Override
  public Optional<Set<String>> interfaces(Ip from, Ip to) {
    return ways(from, to).interfaces;
  }

  /** The same for packets that the node itself sends. */
  public Optional<Set<String>> interfaces(Ip to) {
    return query.to(to.bytes()).flatMap(KernelRoutes::names);
  }

  @Override
  public boolean mayStay(Ip from, Ip to) {
    return ways(from, to).mayStay;
  }

  private Ways ways(Ip from, Ip to) {
    Ends ends = new Ends(from, to);
    if (!known.containsKey(ends) && known.size() < MOST) {
      known.put(ends, ask(from, to));
    }
    return known.getOrDefault(ends, Ways.UNKNOWN);
  }

  /** Looks them up as packets that came in by the interface toward their source. */
  private Ways ask(Ip from, Ip to) {
    Optional<Integer> cameBy =
        query
            .to(from.bytes())
            .filter(back -> back.interfaces().size() == 1)
            .map(back -> back.interfaces().iterator().next());
    if (cameBy.isEmpty()) {
      return new Ways(interfaces(to), true);
    }
    boolean mayStay = false;
    for (int mark : marks.computeIfAbsent(to.family(), this::marks)) {
      Optional<Route> marked = query.to(to.bytes(), forwarded(from, cameBy.get(), mark));
      mayStay |= marked.filter(route -> route.kind() == Route.RouteKind.LOCAL).isPresent();
    }
    Optional<Route> route =
        query.to(to.bytes(), forwarded(from, cameBy.get(), 0)).or(() -> query.to(to.bytes()));
    return new Ways(route.flatMap(KernelRoutes::names), mayStay);
  }

  private static RouteQuery.Forwarded forwarded(Ip from, int cameBy, int mark) {
    return new RouteQuery.Forwarded(from.bytes(), cameBy, mark);
  }

  private Set<Integer> marks(Family family) {
    return query.marks(family == Family.IPV4);
  }

  private static Optional<Set<String>> names(Route route) {
    Set<String> names = new LinkedHashSet<>();
    if (route.kind() != Route.RouteKind.UNICAST) {
      return Optional.empty();
    }
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
