package ipmasq.netlink.route;

import ipmasq.netlink.AttributeReader;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageReader;
import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.NetlinkSocket;
import ipmasq.netlink.NetlinkUnavailable;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/** Asks the kernel how it would route packets. Used by one thread. */
public final class RouteQuery implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(2);
  private static final int NETLINK_ROUTE = 0;
  private static final int RTM_GETROUTE = 26;
  private static final int RTM_F_FIB_MATCH = 0x2000;
  private static final int RTN_UNICAST = 1;
  private static final int RTN_LOCAL = 2;
  private static final int RTA_DST = 1;
  private static final int RTA_SRC = 2;
  private static final int RTA_IIF = 3;
  private static final int RTA_OIF = 4;
  private static final int RTA_MULTIPATH = 9;
  private static final int SIZEOF_RTMSG = 12;
  private static final int OFFSETOF_RTM_TYPE = 7;
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
    return ask(destination, Optional.empty(), 0);
  }

  /** The route of packets that come in by an interface; nothing where there is none. */
  public Optional<Route> forwarded(byte[] destination, byte[] source, int cameBy) {
    return ask(destination, Optional.of(source), cameBy);
  }

  private Optional<Route> ask(byte[] destination, Optional<byte[]> source, int cameBy) {
    Optional<Route> one = ask(destination, source, cameBy, 0);
    // The answer names one next hop; the routing table's entry may have several.
    Optional<Route> entry = ask(destination, source, cameBy, RTM_F_FIB_MATCH);
    return one.map(
        route ->
            entry.filter(e -> e.interfaces().size() > 1).isPresent()
                ? new Route(route.kind(), entry.get().interfaces())
                : route);
  }

  private Optional<Route> ask(byte[] destination, Optional<byte[]> source, int cameBy, int flags) {
    MessageWriter request = new MessageWriter().begin(RTM_GETROUTE, NetlinkSocket.NLM_F_REQUEST);
    int bits = destination.length * 8;
    request.attributes(
        new byte[] {
          (byte) (destination.length == 4 ? AF_INET : AF_INET6),
          (byte) bits,
          (byte) (source.isPresent() ? bits : 0),
          0,
          0,
          0,
          0,
          0,
          (byte) flags,
          (byte) (flags >>> 8),
          0,
          0
        });
    request.bytes(RTA_DST, destination);
    source.ifPresent(from -> request.bytes(RTA_SRC, from));
    if (cameBy != 0) {
      request.bytes(RTA_IIF, hostOrder(cameBy));
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
    AttributeReader attributes = message.attributes(SIZEOF_RTMSG);
    while (attributes.next()) {
      switch (attributes.type()) {
        case RTA_OIF -> interfaces.add(attributes.hostU32());
        case RTA_MULTIPATH -> nextHops(attributes.bytes(), interfaces);
        default -> {}
      }
    }
    return new Route(
        switch (message.payloadByte(OFFSETOF_RTM_TYPE)) {
          case RTN_UNICAST -> Route.RouteKind.UNICAST;
          case RTN_LOCAL -> Route.RouteKind.LOCAL;
          default -> Route.RouteKind.OTHER;
        },
        interfaces);
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
