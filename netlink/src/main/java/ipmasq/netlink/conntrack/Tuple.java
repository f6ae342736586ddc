package ipmasq.netlink.conntrack;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

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
  private static final int CTA_TUPLE_IP = 1;
  private static final int CTA_TUPLE_PROTO = 2;
  private static final int CTA_IP_V4_SRC = 1;
  private static final int CTA_IP_V4_DST = 2;
  private static final int CTA_IP_V6_SRC = 3;
  private static final int CTA_IP_V6_DST = 4;
  private static final int CTA_PROTO_NUM = 1;
  private static final int CTA_PROTO_SRC_PORT = 2;
  private static final int CTA_PROTO_DST_PORT = 3;

  static Tuple read(Attributes tuple) throws MalformedMessage {
    Attributes ip = tuple.nested(CTA_TUPLE_IP, CTA_IP_V6_DST);
    Attributes protocol = tuple.nested(CTA_TUPLE_PROTO, CTA_PROTO_DST_PORT);
    boolean v6 = ip.has(CTA_IP_V6_SRC);
    return new Tuple(
        protocol.u8(CTA_PROTO_NUM),
        Address.read(ip.bytes(v6 ? CTA_IP_V6_SRC : CTA_IP_V4_SRC)),
        Address.read(ip.bytes(v6 ? CTA_IP_V6_DST : CTA_IP_V4_DST)),
        protocol.has(CTA_PROTO_SRC_PORT) ? protocol.u16(CTA_PROTO_SRC_PORT) : 0,
        protocol.has(CTA_PROTO_DST_PORT) ? protocol.u16(CTA_PROTO_DST_PORT) : 0);
  }

  void write(MessageWriter out) {
    int ip = out.nest(CTA_TUPLE_IP);
    out.bytes(source.isV6() ? CTA_IP_V6_SRC : CTA_IP_V4_SRC, source.bytes());
    out.bytes(destination.isV6() ? CTA_IP_V6_DST : CTA_IP_V4_DST, destination.bytes());
    out.end(ip);
    int ports = out.nest(CTA_TUPLE_PROTO);
    out.u8(CTA_PROTO_NUM, protocol)
        .u16(CTA_PROTO_SRC_PORT, sourcePort)
        .u16(CTA_PROTO_DST_PORT, destinationPort)
        .end(ports);
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
