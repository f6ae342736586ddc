package ipmasq.testkit;

import ipmasq.testkit.Sighting.Seen;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A pod, its node and the world outside, drawn in the package's own page. Packets may be sent from
 * several threads, equipment is added by one.
 */
public final class Lab implements AutoCloseable {
  /** The pod's own addresses: what the outside sees without translation. */
  public static final Addresses POD = Addresses.of("10.244.1.2", "fd00:244:1::2");

  /** The node's addresses on the uplink: what the outside sees with translation. */
  public static final Addresses NODE = Addresses.of("192.0.2.10", "2001:db8:2::10");

  /** The one address beyond the node's uplink that is valid only there. */
  static final InetAddress NEIGHBOUR = InetAddress.ofLiteral("fe80::1");

  private static final List<String> LOOPBACK_UP = List.of("link set lo up");

  /**
   * Makes every address an address of the outside host. What comes in is looked up in the local
   * table, where everything is local; the host's own packets skip that table, or they would never
   * leave.
   */
  private static final List<String> ANY_ADDRESS_IS_LOCAL =
      List.of(
          "rule add iif lo lookup main pref 10",
          "rule del pref 0",
          "rule add lookup local pref 20",
          "route add local default dev lo table local");

  private final Namespace outside;
  private final Namespace node;
  private final Namespace pod;
  private final List<Namespace> hosts = new ArrayList<>();
  private final List<Wiring> pods = new ArrayList<>();
  private final List<Wiring> uplinks = new ArrayList<>();
  private final Traffic traffic;

  private Lab() {
    hosts.addAll(Namespace.openAll("outside", "node", "pod"));
    outside = hosts.get(0);
    node = hosts.get(1);
    pod = hosts.get(2);
    traffic = new Traffic(pod, hosts);
  }

  /** Builds it; when this returns, packets of both families get through. */
  public static Lab open() {
    Lab lab = new Lab();
    try {
      lab.build();
      return lab;
    } catch (RuntimeException | Error e) {
      lab.close();
      throw e;
    }
  }

  /** One process per host, because starting them takes most of the time. */
  private void build() {
    hosts.forEach(Lab::quieten);
    node.sysctl("ipv4/ip_forward=1", "ipv6/conf/all/forwarding=1");
    Wiring uplink = Wiring.of(0, NODE);
    uplinks.add(uplink);
    Wiring toPod = Wiring.of(0, POD);
    pods.add(toPod);
    plug(uplink.uplinkCable(node, outside), toPod.podCable(pod, node));
    pod.ip(lines(List.of(LOOPBACK_UP, toPod.inPod())));
    node.ip(
        lines(
            List.of(
                LOOPBACK_UP,
                toPod.inNodeTowardPod(),
                uplink.inNodeTowardOutside(),
                uplink.inNodeByDefault())));
    outside.ip(
        lines(
            List.of(
                LOOPBACK_UP, uplink.inOutside(), ANY_ADDRESS_IS_LOCAL, uplink.inOutsideBack())));
    outside.ip6(ANY_ADDRESS_IS_LOCAL);
    awaitReady();
  }

  /** No second guesses about where packets come from, and no addresses nobody asked for. */
  private static void quieten(Namespace host) {
    host.sysctl(
        "ipv4/conf/all/rp_filter=0",
        "ipv4/conf/default/rp_filter=0",
        "ipv6/conf/default/accept_ra=0",
        "ipv6/conf/default/addr_gen_mode=1");
  }

  private static void plug(String... cables) {
    Namespace.batch(List.of("ip"), List.of(cables));
  }

  private static List<String> lines(List<List<String>> parts) {
    return parts.stream().flatMap(List::stream).toList();
  }

  private void awaitReady() {
    for (String destination : List.of("203.0.113.1", "2001:db8:ffff::1")) {
      Sighting last = send(Probe.udp(destination), Duration.ofMillis(50));
      for (int attempt = 1; attempt < 100 && !(last instanceof Seen); attempt++) {
        last = send(Probe.udp(destination), Duration.ofMillis(50));
      }
      last.seen();
    }
  }

  /** The default sender of packets. */
  public Namespace pod() {
    return pod;
  }

  /** The host that the agent runs on. */
  public Namespace node() {
    return node;
  }

  /** Where every address is that is not the node's or a pod's. */
  public Namespace outside() {
    return outside;
  }

  /** The outside host by its link-local address, which only the node itself can send to. */
  public Inet6Address neighbour() {
    try {
      return Inet6Address.getByAddress(
          null, NEIGHBOUR.getAddress(), uplinks.getFirst().uplinkIndex());
    } catch (UnknownHostException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /**
   * Adds a pod behind an interface of its own on the node, {@code pod1} and so on, whose address
   * there ends in 1.
   */
  public Namespace addPod(String v4, String v6) {
    Namespace added = Namespace.open("pod" + pods.size());
    hosts.add(added);
    quieten(added);
    Wiring cable = Wiring.of(pods.size(), Addresses.of(v4, v6));
    pods.add(cable);
    plug(cable.podCable(added, node));
    node.ip(cable.inNodeTowardPod());
    added.ip(cable.inPod());
    traffic.addHost(added);
    return added;
  }

  /**
   * Adds an interface of the node, {@code eth1} and so on, that leads outside too, for the networks
   * of these addresses. What else goes there, {@link #routeBy} says.
   */
  public String addUplink(String v4, String v6) {
    Wiring cable = Wiring.of(uplinks.size(), Addresses.of(v4, v6));
    uplinks.add(cable);
    plug(cable.uplinkCable(node, outside));
    node.ip(cable.inNodeTowardOutside());
    outside.ip(cable.inOutside());
    return cable.uplink();
  }

  /** Has the node send what goes to these networks by an added uplink. */
  public void routeBy(String uplink, String... networks) {
    Wiring cable =
        uplinks.stream().filter(u -> u.uplink().equals(uplink)).findFirst().orElseThrow();
    node.ip(List.of(networks).stream().map(cable::routeBy).toList());
  }

  /**
   * Whether a packet from a pod to there goes through the node to the outside host: not to the node
   * or a pod, and not to an address that no router forwards to (multicast, broadcast, loopback, and
   * link-local in IPv6; link-local IPv4 is forwarded).
   */
  public boolean carries(InetAddress destination) {
    byte[] bytes = destination.getAddress();
    boolean v4 = bytes.length == 4;
    boolean special =
        destination.isMulticastAddress()
            || destination.isLoopbackAddress()
            || destination.isAnyLocalAddress()
            || !v4 && destination.isLinkLocalAddress()
            || v4 && bytes[0] == 0
            || v4 && (bytes[0] & bytes[1] & bytes[2] & bytes[3]) == -1;
    return !special
        && pods.stream().noneMatch(cable -> cable.sharesNetwork(destination))
        && uplinks.stream().noneMatch(cable -> cable.nodeTakes(destination));
  }

  /** Sends one packet, the first of a new flow, and waits until somebody sees it. */
  public Sighting send(Probe probe) {
    return send(probe, Flow.DEADLINE);
  }

  /**
   * Sends one packet, the first of a new flow, and waits until somebody sees it or time is over.
   */
  public Sighting send(Probe probe, Duration deadline) {
    try (Flow flow = flow(probe)) {
      return flow.send(deadline);
    }
  }

  /** Prepares a flow, to send several packets that the kernel takes for one connection. */
  public Flow flow(Probe probe) {
    return traffic.flow(probe);
  }

  /** Sends many packets, each the first of a new flow; the results are in the same order. */
  public List<Sighting> sendAll(List<Probe> probes) {
    return traffic.sendAll(probes);
  }

  /** Sends an echo request from the pod to each; the results are in the same order. */
  public List<Sighting> pingAll(List<InetAddress> destinations) {
    return Pings.send(pod, outside, destinations);
  }

  @Override
  public void close() {
    traffic.close();
    Namespace.closeAll(hosts);
  }
}
