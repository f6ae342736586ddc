package ipmasq.evidence.flows;

import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.route.Route;
import ipmasq.netlink.route.RouteQuery;
import ipmasq.netlink.route.RouteQuery.RoutedPackets;
import ipmasq.netlink.route.RoutingRules;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The kernel's own answers, with a limit on queries. Used by one thread. */
public final class KernelRoutes implements Routes, AutoCloseable {
  private static final int MOST_WAYS = 64;
  private static final int MOST_SOURCES = 512;
  private static final int MOST_IN_TABLE = 8_192;

  private final RouteQuery query;
  private final Map<FlowEnds, Ways> ways = new HashMap<>();
  private final Map<Ip, Optional<Route>> back = new HashMap<>();
  private final Map<Family, RoutingRules> rules = new EnumMap<>(Family.class);
  private final Map<Family, Set<Integer>> uplinks = new EnumMap<>(Family.class);

  /** Where packets go: by which interfaces they leave, and whether a mark may keep them here. */
  private record Ways(Optional<Set<String>> interfaces, boolean mayStay) {
    static final Ways UNKNOWN = new Ways(Optional.empty(), true);
  }

  private final int mostWays;
  private final int mostSources;

  private KernelRoutes(RouteQuery query, int mostWays, int mostSources) {
    this.query = query;
    this.mostWays = mostWays;
    this.mostSources = mostSources;
  }

  public static KernelRoutes open() throws NetlinkUnavailable {
    return new KernelRoutes(RouteQuery.open(), MOST_WAYS, MOST_SOURCES);
  }

  /** For all flows at once. */
  public static KernelRoutes ofTable() throws NetlinkUnavailable {
    return new KernelRoutes(RouteQuery.open(), MOST_IN_TABLE, MOST_IN_TABLE);
  }

  /** Whether there were more sources than are asked for. */
  boolean isFull() {
    return back.size() >= mostSources;
  }

  @Override
  public boolean isBehindNode(Ip source) {
    return back(source)
        .filter(route -> route.kind() == Route.Kind.UNICAST && !route.gateway())
        .map(route -> uplinks(source.family()).stream().noneMatch(route.interfaces()::contains))
        .orElse(false);
  }

  /** The interface that packets from there come in by. */
  public Optional<String> cameBy(Ip source) {
    return back(source)
        .flatMap(this::names)
        .filter(names -> names.size() == 1)
        .map(names -> names.iterator().next());
  }

  @Override
  public Optional<Set<String>> interfaces(FlowEnds ends) {
    return ways(ends).interfaces;
  }

  /**
   * Whether more would have to be known of a packet to tell its way.
   *
   * @param from whether its source is known
   * @param port whether its protocol and port are
   */
  public boolean dependsOnMore(Family family, boolean from, boolean port) {
    RoutingRules asked = rules(family);
    return asked.bySource() && !from
        || asked.byPort() && !port
        || !asked.marks().isEmpty() && !from
        || asked.byOther();
  }

  /** Whether the node's routing leads nowhere from there. */
  public boolean isUnreachable(Ip to) {
    return query.to(to.bytes()).filter(r -> r.kind() == Route.Kind.UNICAST).isEmpty();
  }

  /**
   * The same for packets that the node itself sends.
   *
   * @param from its own address; empty: any
   */
  public Optional<Set<String>> interfaces(Optional<Ip> from, Ip to, int protocol, int port) {
    return query
        .to(to.bytes(), new RoutedPackets(from.map(Ip::bytes), 0, 0, protocol, port))
        .flatMap(this::names);
  }

  @Override
  public boolean mayStay(FlowEnds ends) {
    return ways(ends).mayStay;
  }

  private Ways ways(FlowEnds ends) {
    if (!ways.containsKey(ends) && ways.size() < mostWays) {
      ways.put(ends, ask(ends));
    }
    return ways.getOrDefault(ends, Ways.UNKNOWN);
  }

  /** Looks them up as packets that came in by the interface toward their source. */
  private Ways ask(FlowEnds ends) {
    Optional<Integer> cameBy =
        back(ends.from())
            .filter(route -> route.interfaces().size() == 1)
            .map(route -> route.interfaces().iterator().next());
    if (cameBy.isEmpty()) {
      return new Ways(ofAnySource(ends), true);
    }
    Optional<Set<String>> names =
        route(ends, cameBy.get(), 0).flatMap(this::names).or(() -> ofAnySource(ends));
    boolean mayStay = false;
    for (int mark : rules(ends.to().family()).marks()) {
      Optional<Route> marked = route(ends, cameBy.get(), mark);
      mayStay |= marked.filter(route -> route.kind() == Route.Kind.LOCAL).isPresent();
      Optional<Set<String>> also = marked.flatMap(this::names);
      names = names.map(all -> union(all, also.orElse(Set.of())));
    }
    return new Ways(names.filter(_ -> !rules(ends.to().family()).byOther()), mayStay);
  }

  private Optional<Set<String>> ofAnySource(FlowEnds ends) {
    return interfaces(Optional.empty(), ends.to(), ends.protocol(), ends.port());
  }

  private Optional<Route> route(FlowEnds ends, int cameBy, int mark) {
    return query.to(
        ends.to().bytes(),
        new RoutedPackets(
            Optional.of(ends.from().bytes()), cameBy, mark, ends.protocol(), ends.port()));
  }

  private static Set<String> union(Set<String> one, Set<String> other) {
    Set<String> all = new LinkedHashSet<>(one);
    all.addAll(other);
    return all;
  }

  /** The route of packets to a source; nothing where there is none, or too many were asked for. */
  private Optional<Route> back(Ip source) {
    if (!back.containsKey(source) && back.size() < mostSources) {
      back.put(source, query.to(source.bytes()));
    }
    return back.getOrDefault(source, Optional.empty());
  }

  private RoutingRules rules(Family family) {
    return rules.computeIfAbsent(family, each -> query.rules(each == Family.IPV4));
  }

  /** The interfaces that a default route leads out of. */
  private Set<Integer> uplinks(Family family) {
    return uplinks.computeIfAbsent(
        family, each -> query.to(nowhere(each).bytes()).map(Route::interfaces).orElse(Set.of()));
  }

  /** Addresses that nobody has, so that only a default route leads there. */
  private static Ip nowhere(Family family) {
    return switch (family) {
      case IPV4 -> Ip.of("192.0.0.8");
      case IPV6 -> Ip.of("100::8");
    };
  }

  private Optional<Set<String>> names(Route route) {
    Set<String> names = new LinkedHashSet<>();
    for (int index : route.interfaces()) {
      query.interfaceName(index).ifPresent(names::add);
    }
    boolean all = names.size() == route.interfaces().size() && !names.isEmpty();
    return route.kind() == Route.Kind.UNICAST && all ? Optional.of(names) : Optional.empty();
  }

  @Override
  public void close() {
    query.close();
  }
}
