package ipmasq.netlink.nftables;

import ipmasq.netlink.MalformedMessage;
import java.util.Locale;

/** Which packets a table sees: {@code NFPROTO_*}. */
public enum TableFamily {
  /** IPv4 and IPv6. */
  INET(1),
  /** {@code NFPROTO_IPV4}. */
  IP(2),
  ARP(3),
  NETDEV(5),
  BRIDGE(7),
  /** {@code NFPROTO_IPV6}. */
  IP6(10);

  private final int number;

  TableFamily(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }

  static TableFamily of(int number) throws MalformedMessage {
    for (TableFamily family : values()) {
      if (family.number == number) {
        return family;
      }
    }
    throw new MalformedMessage("a table of family " + number);
  }

  /** As nft writes it. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
