package ipmasq.netlink.ipset;

import ipmasq.netlink.MessageWriter;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a rule asks a set about a packet: the parts that the set's type has.
 *
 * @param first {@code ip} or {@code net}: 4 bytes or 16, in network order
 * @param protocol the number of the transport protocol, which goes with a port
 * @param port for ICMP, its type and code
 * @param second the other {@code ip} or {@code net} of types with two
 */
public record IpsetKey(
    Optional<byte[]> first, OptionalInt protocol, OptionalInt port, Optional<byte[]> second) {
  private static final int NLA_F_NET_BYTEORDER = 0x4000;
  private static final int IPSET_ATTR_IP = 1;
  private static final int IPSET_ATTR_PORT = 4;
  private static final int IPSET_ATTR_PROTO = 7;
  private static final int IPSET_ATTR_IP2 = 20;
  private static final int IPSET_ATTR_IPADDR_IPV4 = 1;
  private static final int IPSET_ATTR_IPADDR_IPV6 = 2;

  public static IpsetKey address(byte[] address) {
    return new IpsetKey(
        Optional.of(address), OptionalInt.empty(), OptionalInt.empty(), Optional.empty());
  }

  public IpsetKey withPort(int protocol, int port) {
    return new IpsetKey(first, OptionalInt.of(protocol), OptionalInt.of(port), second);
  }

  public IpsetKey withSecond(byte[] address) {
    return new IpsetKey(first, protocol, port, Optional.of(address));
  }

  void write(MessageWriter out) {
    first.ifPresent(address -> write(out, IPSET_ATTR_IP, address));
    port.ifPresent(number -> out.u16(IPSET_ATTR_PORT | NLA_F_NET_BYTEORDER, number));
    protocol.ifPresent(number -> out.u8(IPSET_ATTR_PROTO, number));
    second.ifPresent(address -> write(out, IPSET_ATTR_IP2, address));
  }

  private static void write(MessageWriter out, int type, byte[] address) {
    int nest = out.nest(type);
    int family = address.length == 4 ? IPSET_ATTR_IPADDR_IPV4 : IPSET_ATTR_IPADDR_IPV6;
    out.bytes(family | NLA_F_NET_BYTEORDER, address).end(nest);
  }
}
