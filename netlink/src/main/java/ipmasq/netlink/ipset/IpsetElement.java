package ipmasq.netlink.ipset;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import java.util.Optional;

/**
 * An element of an ipset, as far as its type has such parts.
 *
 * @param protocol the number of the transport protocol; 0: none
 * @param port 0: none
 * @param except whether it is an exception from shorter prefixes: {@code nomatch}
 */
public record IpsetElement(
    Optional<IpsetBlock> first,
    int protocol,
    int port,
    Optional<IpsetBlock> second,
    boolean except) {
  private static final int IPSET_ATTR_IP = 1;
  private static final int IPSET_ATTR_CIDR = 3;
  private static final int IPSET_ATTR_PORT = 4;
  private static final int IPSET_ATTR_PROTO = 7;
  private static final int IPSET_ATTR_CADT_FLAGS = 8;
  private static final int IPSET_ATTR_IP2 = 20;
  private static final int IPSET_ATTR_CIDR2 = 21;
  private static final int IPSET_ATTR_IPADDR_IPV4 = 1;
  private static final int IPSET_ATTR_IPADDR_IPV6 = 2;
  private static final int IPSET_FLAG_NOMATCH = 1 << 2;

  /**
   * A block of addresses.
   *
   * @param address its first, in network order: 4 or 16 bytes
   * @param prefix the length of its prefix in bits
   */
  public record IpsetBlock(byte[] address, int prefix) {}

  static IpsetElement read(Attributes data, int netmask) throws MalformedMessage {
    return new IpsetElement(
        block(data, IPSET_ATTR_IP, IPSET_ATTR_CIDR, netmask),
        data.has(IPSET_ATTR_PROTO) ? data.u8(IPSET_ATTR_PROTO) : 0,
        data.has(IPSET_ATTR_PORT) ? data.u16(IPSET_ATTR_PORT) : 0,
        block(data, IPSET_ATTR_IP2, IPSET_ATTR_CIDR2, 0),
        (data.u32(IPSET_ATTR_CADT_FLAGS, 0) & IPSET_FLAG_NOMATCH) != 0);
  }

  /**
   * @param netmask the prefix of every block of the set; 0: each has its own, or is an address
   */
  private static Optional<IpsetBlock> block(Attributes data, int ip, int cidr, int netmask)
      throws MalformedMessage {
    if (!data.has(ip)) {
      return Optional.empty();
    }
    Attributes nested = data.nested(ip);
    boolean v4 = nested.has(IPSET_ATTR_IPADDR_IPV4);
    byte[] address = nested.bytes(v4 ? IPSET_ATTR_IPADDR_IPV4 : IPSET_ATTR_IPADDR_IPV6);
    int bits = address.length * 8;
    int prefix = data.has(cidr) ? data.u8(cidr) : netmask == 0 ? bits : netmask;
    if (bits != (v4 ? 32 : 128) || prefix > bits) {
      throw new MalformedMessage("an address of " + bits + " bits with a prefix of " + prefix);
    }
    return Optional.of(new IpsetBlock(address, prefix));
  }
}
