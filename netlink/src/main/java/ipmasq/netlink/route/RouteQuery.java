package ipmasq.netlink.route;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.Message;
import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.NetlinkSocket;
import ipmasq.netlink.NetlinkUnavailable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/** Asks the kernel how it would route packets. Used by one thread. */
public final class RouteQuery implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(2);
  private static final int NETLINK_ROUTE = 0;
  private static final int RTM_GETLINK = 18;
  private static final int RTM_GETROUTE = 26;
  private static final int RTM_GETRULE = 34;
  private static final int RTM_F_FIB_MATCH = 0x2000;
  private static final int RTN_UNICAST = 1;
  private static final int RTN_LOCAL = 2;
  private static final int RTA_DST = 1;
  private static final int RTA_SRC = 2;
  private static final int RTA_IIF = 3;
  private static final int RTA_OIF = 4;
  private static final int RTA_GATEWAY = 5;
  private static final int RTA_MULTIPATH = 9;
  private static final int RTA_MARK = 16;
  private static final int RTA_VIA = 18;
  private static final int RTA_IP_PROTO = 27;
  private static final int RTA_DPORT = 29;
  private static final int FRA_SRC = 2;
  private static final int FRA_IIFNAME = 3;
  private static final int FRA_FWMARK = 10;
  private static final int FRA_IP_PROTO = 22;
  private static final int FRA_SPORT_RANGE = 23;
  private static final int FRA_DPORT_RANGE = 24;
  private static final int FRA_DPORT_MASK = 29;
  private static final int IFLA_IFNAME = 3;
  private static final int SIZEOF_IFINFOMSG = 16;
  private static final int OFFSETOF_IFI_INDEX = 4;
  private static final int SIZEOF_RTMSG = 12; // and of struct fib_rule_hdr
  private static final int OFFSETOF_RTM_DST_LEN = 1;
  private static final int OFFSETOF_RTM_SRC_LEN = 2;
  private static final int OFFSETOF_RTM_TOS = 3;
  private static final int OFFSETOF_RTM_TYPE = 7;
  private static final int OFFSETOF_RTM_FLAGS = 8;
  private static final int SIZEOF_RTNEXTHOP = 8;
  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;

  private final NetlinkSocket socket;

  private RouteQuery(NetlinkSocket socket) {
    this.socket = socket;
  }

  public static RouteQuery open() throws NetlinkUnavailable {
    return new RouteQuery(NetlinkSocket.open(NETLINK_ROUTE, LIMIT));
  }

  /** The route of packets that this host itself sends; nothing where there is none. */
  public Optional<Route> to(byte[] destination) {
    return to(destination, new RoutedPackets(Optional.empty(), 0, 0, 0, 0));
  }

  /** The route of such packets; nothing where there is none. */
  public Optional<Route> to(byte[] destination, RoutedPackets packets) {
    Optional<Route> one = ask(destination, packets, 0);
    // The answer names one next hop; the routing table's entry may have several.
    Optional<Route> entry = ask(destination, packets, RTM_F_FIB_MATCH);
    return one.map(
        route ->
            entry.filter(e -> e.interfaces().size() > 1).isPresent()
                ? new Route(route.kind(), entry.get().interfaces(), route.gateway())
                : route);
  }

  /**
   * What is known of packets.
   *
   * @param cameBy the index of an interface; 0: this host itself sends them
   * @param mark 0: none
   * @param protocol the number of the transport protocol; 0: unknown
   * @param port where they go; 0: unknown
   */
  public record RoutedPackets(
      Optional<byte[]> source, int cameBy, int mark, int protocol, int port) {}

  /** What the rules of routing look at; nothing if the kernel does not tell. */
  public RoutingRules rules(boolean ipv4) {
    Set<Integer> marks = new LinkedHashSet<>();
    Set<Integer> asked = new HashSet<>();
    ByteBuffer header = host(SIZEOF_RTMSG).put((byte) (ipv4 ? AF_INET : AF_INET6));
    socket.list(
        request(RTM_GETRULE, header),
        message -> {
          Attributes attributes = message.attributes(SIZEOF_RTMSG);
          asked.addAll(attributes.types());
          if (attributes.has(FRA_FWMARK)) {
            marks.add(attributes.hostU32(FRA_FWMARK));
          }
          if (message.payloadByte(OFFSETOF_RTM_TOS) != 0) {
            asked.add(FRA_SPORT_RANGE); // another selector of this kind
          }
        });
    marks.remove(0);
    boolean bySource = asked.contains(FRA_SRC) || asked.contains(FRA_IIFNAME);
    Set<Integer> byPort = Set.of(FRA_IP_PROTO, FRA_DPORT_RANGE, FRA_DPORT_MASK);
    return new RoutingRules(
        marks,
        bySource,
        asked.stream().anyMatch(byPort::contains),
        // Later kernels have more selectors.
        asked.stream().anyMatch(type -> type >= FRA_SPORT_RANGE && !byPort.contains(type)));
  }

  /** The name of an interface, also of one without addresses, which Java does not list. */
  public Optional<String> interfaceName(int index) {
    ByteBuffer header = host(SIZEOF_IFINFOMSG).putInt(OFFSETOF_IFI_INDEX, index);
    String[] name = new String[1];
    socket.ask(
        request(RTM_GETLINK, header),
        message -> name[0] = message.attributes(SIZEOF_IFINFOMSG).string(IFLA_IFNAME));
    return Optional.ofNullable(name[0]);
  }

  private Optional<Route> ask(byte[] destination, RoutedPackets packets, int flags) {
    ByteBuffer header =
        host(SIZEOF_RTMSG)
            .put(0, (byte) (destination.length == 4 ? AF_INET : AF_INET6))
            .put(OFFSETOF_RTM_DST_LEN, (byte) (destination.length * 8))
            .put(
                OFFSETOF_RTM_SRC_LEN,
                (byte) (packets.source.isPresent() ? destination.length * 8 : 0))
            .putInt(OFFSETOF_RTM_FLAGS, flags);
    MessageWriter request = request(RTM_GETROUTE, header).bytes(RTA_DST, destination);
    packets.source.ifPresent(source -> request.bytes(RTA_SRC, source));
    if (packets.cameBy != 0) {
      request.bytes(RTA_IIF, host(4).putInt(packets.cameBy).array());
    }
    if (packets.mark != 0) {
      request.bytes(RTA_MARK, host(4).putInt(packets.mark).array());
    }
    if (packets.protocol != 0) {
      request.u8(RTA_IP_PROTO, packets.protocol);
      if (packets.port != 0) {
        request.u16(RTA_DPORT, packets.port);
      }
    }
    Route[] found = new Route[1];
    boolean refused = socket.ask(request, message -> found[0] = read(message)).isPresent();
    return refused ? Optional.empty() : Optional.ofNullable(found[0]);
  }

  private static ByteBuffer host(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
  }

  private static MessageWriter request(int type, ByteBuffer header) {
    return new MessageWriter().begin(type, NetlinkSocket.NLM_F_REQUEST).attributes(header.array());
  }

  private static Route read(Message message) throws MalformedMessage {
    Attributes attributes = message.attributes(SIZEOF_RTMSG);
    Set<Integer> interfaces = nextHops(ByteBuffer.wrap(attributes.bytesOrNone(RTA_MULTIPATH)));
    if (attributes.has(RTA_OIF)) {
      interfaces.add(attributes.hostU32(RTA_OIF));
    }
    return new Route(
        switch (message.payloadByte(OFFSETOF_RTM_TYPE)) {
          case RTN_UNICAST -> Route.Kind.UNICAST;
          case RTN_LOCAL -> Route.Kind.LOCAL;
          default -> Route.Kind.OTHER;
        },
        interfaces,
        attributes.has(RTA_GATEWAY) || attributes.has(RTA_VIA));
  }

  /** {@code struct rtnexthop}: u16 length, u8 flags, u8 hops, int index. */
  private static Set<Integer> nextHops(ByteBuffer bytes) throws MalformedMessage {
    bytes.order(ByteOrder.nativeOrder());
    Set<Integer> interfaces = new LinkedHashSet<>();
    int at = 0;
    while (at + SIZEOF_RTNEXTHOP <= bytes.limit()) {
      int length = Short.toUnsignedInt(bytes.getShort(at));
      if (length < SIZEOF_RTNEXTHOP) {
        throw new MalformedMessage("a next hop of " + length + " bytes");
      }
      interfaces.add(bytes.getInt(at + 4));
      at += length + 3 & ~3;
    }
    return interfaces;
  }

  @Override
  public void close() {
    socket.close();
  }
}
