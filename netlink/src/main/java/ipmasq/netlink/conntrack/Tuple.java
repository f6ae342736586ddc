package ipmasq.netlink.conntrack;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.Data;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;

/**
 * The packets of a flow in one direction.
 *
 * @param protocol the number of the transport protocol
 * @param source 4 bytes or 16
 * @param sourcePort 0 for protocols without ports
 * @param destinationPort 0 for protocols without ports
 */
public record Tuple(
    int protocol, Data source, Data destination, int sourcePort, int destinationPort) {
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
    Attributes ip = tuple.nested(CTA_TUPLE_IP);
    Attributes protocol = tuple.nested(CTA_TUPLE_PROTO);
    boolean v6 = ip.has(CTA_IP_V6_SRC);
    return new Tuple(
        protocol.u8(CTA_PROTO_NUM),
        address(ip, v6 ? CTA_IP_V6_SRC : CTA_IP_V4_SRC),
        address(ip, v6 ? CTA_IP_V6_DST : CTA_IP_V4_DST),
        protocol.has(CTA_PROTO_SRC_PORT) ? protocol.u16(CTA_PROTO_SRC_PORT) : 0,
        protocol.has(CTA_PROTO_DST_PORT) ? protocol.u16(CTA_PROTO_DST_PORT) : 0);
  }

  void write(MessageWriter out) {
    int ip = out.nest(CTA_TUPLE_IP);
    out.bytes(isV6() ? CTA_IP_V6_SRC : CTA_IP_V4_SRC, source.bytes());
    out.bytes(isV6() ? CTA_IP_V6_DST : CTA_IP_V4_DST, destination.bytes());
    out.end(ip);
    int ports = out.nest(CTA_TUPLE_PROTO);
    out.u8(CTA_PROTO_NUM, protocol)
        .u16(CTA_PROTO_SRC_PORT, sourcePort)
        .u16(CTA_PROTO_DST_PORT, destinationPort)
        .end(ports);
  }

  private static Data address(Attributes ip, int type) throws MalformedMessage {
    byte[] bytes = ip.bytes(type);
    if (bytes.length != 4 && bytes.length != 16) {
      throw new MalformedMessage("an address of " + bytes.length + " bytes");
    }
    return Data.of(bytes);
  }

  boolean isV6() {
    return source.length() == 16;
  }
}
