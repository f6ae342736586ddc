package ipmasq.testkit;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * One cable of the lab, as lines for {@code ip -batch}. Pure text.
 *
 * <p>Neighbours are written down instead of asked for: no first packet waits for an answer, and no
 * table of neighbours overflows. For the same reason an uplink's network is routed by way of the
 * outside host, which is all of that network, instead of being looked for on the cable.
 *
 * @param number tells the cables of one kind apart
 * @param near the end at the pod, or at the node of an uplink
 * @param far the other end
 */
record Wiring(int number, Addresses near, Addresses far) {
  /** Indices of the node's uplinks are fixed: a link-local address needs one to be complete. */
  private static final int FIRST_UPLINK_INDEX = 100;

  /** The far end is the host with the number 1 in the same network. */
  static Wiring of(int number, Addresses near) {
    return new Wiring(number, near, new Addresses(first(near.v4()), first(near.v6())));
  }

  @SuppressWarnings("unchecked") // the family stays
  private static <A extends InetAddress> A first(A address) {
    byte[] bytes = address.getAddress();
    bytes[bytes.length - 1] = 1;
    if (bytes.length == 16) {
      bytes[14] = 0;
    }
    try {
      return (A) InetAddress.getByAddress(bytes);
    } catch (UnknownHostException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** The node's interface toward a pod. */
  String podSide() {
    return "pod" + number;
  }

  /** The node's interface toward the outside. */
  String uplink() {
    return "eth" + number;
  }

  int uplinkIndex() {
    return FIRST_UPLINK_INDEX + number;
  }

  private String outsideEnd() {
    return "node" + number;
  }

  private String mac(String kind, int end) {
    return "02:00:00:" + kind + ":" + String.format("%02x", number) + ":" + "0" + end;
  }

  /** The cable between pod and node, made from outside both so that it never is anywhere else. */
  String podCable(Namespace pod, Namespace node) {
    return cable("eth0", mac("aa", 2), pod, podSide(), mac("aa", 1), node);
  }

  String uplinkCable(Namespace node, Namespace outside) {
    return cable(
        uplink() + " index " + uplinkIndex(),
        mac("bb", 2),
        node,
        outsideEnd(),
        mac("bb", 1),
        outside);
  }

  private static String cable(
      String name, String mac, Namespace in, String peer, String peerMac, Namespace peerIn) {
    return "link add name %s address %s netns %s type veth peer name %s address %s netns %s"
        .formatted(name, mac, in.name(), peer, peerMac, peerIn.name());
  }

  /** What the pod does to its end. */
  List<String> inPod() {
    return List.of(
        "link set eth0 up",
        "addr add " + text(near.v4()) + "/24 dev eth0",
        "addr add " + text(near.v6()) + "/64 dev eth0 nodad",
        neighbour(far.v4(), mac("aa", 1), "eth0"),
        neighbour(far.v6(), mac("aa", 1), "eth0"),
        "route add default via " + text(far.v4()),
        "route add default via " + text(far.v6()));
  }

  /** What the node does to its end of a pod's cable. */
  List<String> inNodeTowardPod() {
    return List.of(
        "link set " + podSide() + " up",
        "addr add " + text(far.v4()) + "/24 dev " + podSide(),
        "addr add " + text(far.v6()) + "/64 dev " + podSide() + " nodad",
        neighbour(near.v4(), mac("aa", 2), podSide()),
        neighbour(near.v6(), mac("aa", 2), podSide()));
  }

  /** What the node does to its end of an uplink. */
  List<String> inNodeTowardOutside() {
    String name = uplink();
    return List.of(
        "link set " + name + " up",
        "addr add " + text(near.v4()) + "/24 dev " + name + " noprefixroute",
        "addr add " + text(near.v6()) + "/64 dev " + name + " nodad noprefixroute",
        "addr add fe80::10/64 dev " + name + " nodad",
        neighbour(far.v4(), mac("bb", 1), name),
        neighbour(far.v6(), mac("bb", 1), name),
        neighbour(Lab.NEIGHBOUR, mac("bb", 1), name),
        "route add " + text(far.v4()) + " dev " + name,
        "route add " + text(far.v6()) + " dev " + name,
        routeBy(network(far.v4()) + "/24"),
        routeBy(network(far.v6()) + "/64"));
  }

  /** What else the node does if this is the default route. */
  List<String> inNodeByDefault() {
    return List.of(routeBy("0.0.0.0/0"), routeBy("::/0"));
  }

  /** Sends what goes to a network by this uplink. */
  String routeBy(String network) {
    return "route add "
        + network
        + " via "
        + text(network.indexOf(':') < 0 ? far.v4() : far.v6())
        + " dev "
        + uplink();
  }

  /** What the outside host does to its end. */
  List<String> inOutside() {
    String name = outsideEnd();
    return List.of(
        "link set " + name + " up",
        "addr add " + text(far.v4()) + "/24 dev " + name + " noprefixroute",
        "addr add " + text(far.v6()) + "/64 dev " + name + " nodad noprefixroute",
        "addr add " + text(Lab.NEIGHBOUR) + "/64 dev " + name + " nodad",
        neighbour(near.v4(), mac("bb", 2), name),
        neighbour(near.v6(), mac("bb", 2), name),
        "route add " + text(near.v4()) + " dev " + name,
        "route add " + text(near.v6()) + " dev " + name);
  }

  /** By this uplink the outside host answers, whomever it plays. */
  List<String> inOutsideBack() {
    return List.of(
        "route add default via " + text(near.v4()), "route add default via " + text(near.v6()));
  }

  /** Whether an address lies in the network of a pod's cable. */
  boolean sharesNetwork(InetAddress address) {
    return address.getAddress().length == 4
        ? network(address).equals(network(near.v4()))
        : prefix64(address) == prefix64(near.v6());
  }

  /** Whether a packet to this address ends at the node: its own, or the uplink's broadcast. */
  boolean nodeTakes(InetAddress address) {
    byte[] bytes = address.getAddress();
    boolean broadcast = bytes.length == 4 && bytes[3] == -1 && sharesNetwork(address);
    return near.contains(address) || broadcast;
  }

  private static long prefix64(InetAddress address) {
    return ByteBuffer.wrap(address.getAddress()).getLong();
  }

  private static String neighbour(InetAddress address, String mac, String name) {
    return "neigh add %s lladdr %s dev %s nud permanent".formatted(text(address), mac, name);
  }

  private static String network(InetAddress first) {
    byte[] bytes = first.getAddress();
    bytes[bytes.length - 1] = 0;
    try {
      return InetAddress.getByAddress(bytes).getHostAddress();
    } catch (UnknownHostException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private static String text(InetAddress address) {
    return address.getHostAddress();
  }
}
