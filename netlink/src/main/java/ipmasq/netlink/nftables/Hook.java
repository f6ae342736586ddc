package ipmasq.netlink.nftables;

import ipmasq.netlink.MalformedMessage;
import java.util.Locale;

/** Where on its way a packet meets a base chain: {@code NF_INET_*}, with the names of nft. */
public enum Hook {
  PREROUTING,
  INPUT,
  FORWARD,
  OUTPUT,
  POSTROUTING,
  INGRESS,
  EGRESS;

  /** The netdev and arp families have their own numbering. */
  int number(TableFamily family) {
    return switch (family) {
      case NETDEV -> this == EGRESS ? 1 : 0;
      case ARP -> this == OUTPUT ? 1 : 0;
      case INET, IP, IP6, BRIDGE -> ordinal();
    };
  }

  static Hook of(TableFamily family, int number) throws MalformedMessage {
    for (Hook hook : values()) {
      boolean exists =
          switch (family) {
            case NETDEV -> hook == INGRESS || hook == EGRESS;
            case ARP -> hook == INPUT || hook == OUTPUT;
            case INET, IP, IP6, BRIDGE -> hook != EGRESS;
          };
      if (exists && hook.number(family) == number) {
        return hook;
      }
    }
    throw new MalformedMessage("hook " + number + " of family " + family);
  }

  /** As nft writes it. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
