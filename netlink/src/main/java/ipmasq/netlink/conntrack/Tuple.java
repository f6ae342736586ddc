package ipmasq.netlink.conntrack;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;

/**
 * The packets of a flow in one direction.
 *
 * @param protocol the number of the transport protocol
 * @param sourcePort 0 for protocols without ports
 * @param destinationPort 0 for protocols without ports
 */
public record Tuple(
    int protocol, Address source, Address destination, int sourcePort, int destinationPort) {
  static final int HIGHEST = 2;
  private static final int IP = 1;
  private static final int PROTOCOL = 2;
  private static final int V4_SOURCE = 1;
  private static final int V4_DESTINATION = 2;
  private static final int V6_SOURCE = 3;
  private static final int V6_DESTINATION = 4;
  private static final int NUMBER = 1;
  private static final int SOURCE_PORT = 2;
  private static final int DESTINATION_PORT = 3;

  static Tuple read(Attributes tuple) throws MalformedMessage {
    Attributes ip = tuple.nested(IP, V6_DESTINATION);
    Attributes protocol = tuple.nested(PROTOCOL, DESTINATION_PORT);
    boolean v6 = ip.has(V6_SOURCE);
    return new Tuple(
        protocol.u8(NUMBER),
        Address.of(ip.bytes(v6 ? V6_SOURCE : V4_SOURCE)),
        Address.of(ip.bytes(v6 ? V6_DESTINATION : V4_DESTINATION)),
        protocol.has(SOURCE_PORT) ? protocol.u16(SOURCE_PORT) : 0,
        protocol.has(DESTINATION_PORT) ? protocol.u16(DESTINATION_PORT) : 0);
  }

  @Override
  public String toString() {
    return end(source, sourcePort) + " > " + end(destination, destinationPort);
  }

  private static String end(Address address, int port) {
    if (port == 0) {
      return address.toString();
    }
    return address.isV6() ? "[" + address + "]:" + port : address + ":" + port;
  }
}
