package ipmasq.netlink.route;

import ipmasq.netlink.AttributeReader;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageReader;
import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.NetlinkSocket;
import ipmasq.netlink.NetlinkUnavailable;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
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
  private static final int SIZEOF_RTNEXTHOP = 8; // u16 length, u8 flags, u8 hops, int index
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
    boolean[] by = new boolean[3];
    MessageWriter request = new MessageWriter().begin(RTM_GETRULE, NetlinkSocket.NLM_F_REQUEST);
    byte[] header = new byte[SIZEOF_RTMSG];
    header[0] = (byte) (ipv4 ? AF_INET : AF_INET6);
    request.attributes(header);
    socket.list(
        request,
        message -> {
          by[2] |= message.payloadByte(OFFSETOF_RTM_TOS) != 0;
          AttributeReader attributes = message.attributes(SIZEOF_RTMSG);
          while (attributes.next()) {
            switch (attributes.type()) {
              case FRA_FWMARK -> marks.add(attributes.hostU32());
              case FRA_SRC, FRA_IIFNAME -> by[0] = true;
              case FRA_IP_PROTO, FRA_DPORT_RANGE, FRA_DPORT_MASK -> by[1] = true;
              case FRA_SPORT_RANGE -> by[2] = true;
              default -> by[2] |= attributes.type() > FRA_DPORT_RANGE; // later kernels' selectors
            }
          }
        });
    marks.remove(0);
    return new RoutingRules(marks, by[0], by[1], by[2]);
  }

  /** The name of an interface, also of one without addresses, which Java does not list. */
  public Optional<String> interfaceName(int index) {
    MessageWriter request = new MessageWriter().begin(RTM_GETLINK, NetlinkSocket.NLM_F_REQUEST);
    byte[] header = new byte[SIZEOF_IFINFOMSG];
    System.arraycopy(hostOrder(index), 0, header, OFFSETOF_IFI_INDEX, 4);
    request.attributes(header);
    String[] name = new String[1];
    socket.ask(
        request,
        message -> {
          AttributeReader attributes = message.attributes(SIZEOF_IFINFOMSG);
          while (attributes.next()) {
            if (attributes.type() == IFLA_IFNAME) {
              byte[] bytes = attributes.bytes();
              name[0] = new String(bytes, 0, bytes.length - 1, StandardCharsets.UTF_8);
            }
          }
        });
    return Optional.ofNullable(name[0]);
  }

  private Optional<Route> ask(byte[] destination, RoutedPackets packets, int flags) {
    MessageWriter request = new MessageWriter().begin(RTM_GETROUTE, NetlinkSocket.NLM_F_REQUEST);
    byte[] header = new byte[SIZEOF_RTMSG];
    header[0] = (byte) (destination.length == 4 ? AF_INET : AF_INET6);
    header[OFFSETOF_RTM_DST_LEN] = (byte) (destination.length * 8);
    header[OFFSETOF_RTM_SRC_LEN] = (byte) (packets.source.isPresent() ? destination.length * 8 : 0);
    header[OFFSETOF_RTM_FLAGS] = (byte) flags;
    header[OFFSETOF_RTM_FLAGS + 1] = (byte) (flags >>> 8);
    request.attributes(header);
    request.bytes(RTA_DST, destination);
    packets.source.ifPresent(source -> request.bytes(RTA_SRC, source));
    if (packets.cameBy != 0) {
      request.bytes(RTA_IIF, hostOrder(packets.cameBy));
    }
    if (packets.mark != 0) {
      request.bytes(RTA_MARK, hostOrder(packets.mark));
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

  private static byte[] hostOrder(int value) {
    return new byte[] {
      (byte) value, (byte) (value >>> 8), (byte) (value >>> 16), (byte) (value >>> 24)
    };
  }

  private static Route read(MessageReader message) throws MalformedMessage {
    Set<Integer> interfaces = new LinkedHashSet<>();
    boolean gateway = false;
    AttributeReader attributes = message.attributes(SIZEOF_RTMSG);
    while (attributes.next()) {
      switch (attributes.type()) {
        case RTA_OIF -> interfaces.add(attributes.hostU32());
        case RTA_GATEWAY, RTA_VIA -> gateway = true;
        case RTA_MULTIPATH -> nextHops(attributes.bytes(), interfaces);
        default -> {}
      }
    }
    return new Route(
        switch (message.payloadByte(OFFSETOF_RTM_TYPE)) {
          case RTN_UNICAST -> Route.Kind.UNICAST;
          case RTN_LOCAL -> Route.Kind.LOCAL;
          default -> Route.Kind.OTHER;
        },
        interfaces,
        gateway);
  }

  private static void nextHops(byte[] bytes, Set<Integer> interfaces) throws MalformedMessage {
    int at = 0;
    while (at + SIZEOF_RTNEXTHOP <= bytes.length) {
      int length = bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8;
      if (length < SIZEOF_RTNEXTHOP) {
        throw new MalformedMessage("a next hop of " + length + " bytes");
      }
      int index = 0;
      for (int i = 3; i >= 0; i--) {
        index = index << 8 | bytes[at + 4 + i] & 0xff;
      }
      interfaces.add(index);
      at += length + 3 & ~3;
    }
  }

  @Override
  public void close() {
    socket.close();
  }
}
