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
  private final int mostWays;
  private final int mostSources;
  private final Map<FlowEnds, Optional<Set<String>>> ways = new HashMap<>();
  private final Map<Ip, Optional<Route>> back = new HashMap<>();
  private final Map<Family, RoutingRules> rules = new EnumMap<>(Family.class);
  private final Map<Family, Set<Integer>> uplinks = new EnumMap<>(Family.class);

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
    if (!ways.containsKey(ends) && ways.size() < mostWays) {
      ways.put(ends, ask(ends));
    }
    return ways.getOrDefault(ends, Optional.empty());
  }

  /** Looks them up as packets that came in by the interface toward their source. */
  private Optional<Set<String>> ask(FlowEnds ends) {
    RoutingRules asked = rules(ends.to().family());
    Optional<Integer> input = input(ends.from());
    Optional<Set<String>> unmarked =
        input
            .flatMap(index -> route(ends, index, 0))
            .flatMap(this::names)
            .or(() -> interfaces(Optional.empty(), ends.to(), ends.protocol(), ends.port()));
    if (input.isEmpty() || unmarked.isEmpty()) {
      return unmarked;
    }
    Set<String> all = new LinkedHashSet<>(unmarked.get());
    for (int mark : asked.marks()) {
      route(ends, input.get(), mark).flatMap(this::names).ifPresent(all::addAll);
    }
    return asked.byOther() ? Optional.empty() : Optional.of(all);
  }

  @Override
  public boolean mayStay(FlowEnds ends) {
    Optional<Integer> input = input(ends.from());
    return input.isEmpty()
        || rules(ends.to().family()).marks().stream()
            .flatMap(mark -> route(ends, input.get(), mark).stream())
            .anyMatch(route -> route.kind() == Route.Kind.LOCAL);
  }

  private Optional<Integer> input(Ip source) {
    return back(source)
        .map(Route::interfaces)
        .filter(all -> all.size() == 1)
        .map(all -> all.iterator().next());
  }

  private Optional<Route> route(FlowEnds ends, int input, int mark) {
    return query.to(
        ends.to().bytes(),
        new RoutedPackets(
            Optional.of(ends.from().bytes()), input, mark, ends.protocol(), ends.port()));
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
   * The interfaces that packets which the node itself sends may leave by; empty: unknown.
   *
   * @param from its own address; empty: any
   */
  public Optional<Set<String>> interfaces(Optional<Ip> from, Ip to, int protocol, int port) {
    return query
        .to(to.bytes(), new RoutedPackets(from.map(Ip::bytes), 0, 0, protocol, port))
        .flatMap(this::names);
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

  /** The interfaces that a default route leads out of: of addresses that nobody has. */
  private Set<Integer> uplinks(Family family) {
    Ip nowhere = Ip.of(family == Family.IPV4 ? "192.0.0.8" : "100::8");
    return uplinks.computeIfAbsent(
        family, _ -> query.to(nowhere.bytes()).map(Route::interfaces).orElse(Set.of()));
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
