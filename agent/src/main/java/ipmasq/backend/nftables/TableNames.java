package ipmasq.backend.nftables;

import ipmasq.net.Family;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Hook;
import ipmasq.netlink.nftables.KeyType;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * The names of our objects, and the comments that {@code nft list table inet ip-masq-agent} shows.
 */
public final class TableNames {
  public static final Table TABLE =
      new Table(TableFamily.INET, "ip-masq-agent")
          .commented("kept by ip-masq-agent; changes made by hand do not last");

  static final String EXEMPT_COMMENT = "ip-masq-agent: local traffic is not subject to masquerade";
  static final String LOCAL_COMMENT = "ip-masq-agent: the node's own addresses";
  static final String SOURCES_COMMENT = "ip-masq-agent: only traffic from sourceCIDRs";
  static final String INTERFACES_COMMENT = "ip-masq-agent: only traffic out of outputInterface";
  static final String SERVICE_COMMENT = "ip-masq-agent: service traffic is not pinned";
  static final String PIN_COMMENT = "ip-masq-agent: no other chain masquerades this";
  static final String OUTBOUND_COMMENT = "ip-masq-agent: outbound traffic is subject to masquerade";

  /**
   * After kube-proxy's and every iptables chain (100), as our iptables chain comes after theirs;
   * before Calico's (110). Chains of the same priority run in no reliable order, so no one else
   * uses this number.
   */
  static final int PRIORITY = 105;

  /**
   * Before every other chain that masquerades: kindnet's (90), kube-proxy's and iptables' (100).
   */
  static final int PIN_PRIORITY = 85;

  private TableNames() {}

  static NftSet exempt(Family family) {
    return NftSet.intervals(TABLE, "exempt" + number(family), keyType(family))
        .commented("destinations that are not masqueraded");
  }

  static NftSet sources(Family family) {
    return NftSet.intervals(TABLE, "sources" + number(family), keyType(family))
        .commented("sources whose traffic may be masqueraded");
  }

  public static Chain chain(Family family) {
    return new Chain(TABLE, "postrouting" + number(family), "nat", Hook.POSTROUTING, PRIORITY);
  }

  /** The chain that binds exempt traffic to its own source address; only with pinning. */
  public static Chain pin(Family family) {
    return new Chain(TABLE, "pin" + number(family), "nat", Hook.POSTROUTING, PIN_PRIORITY);
  }

  static boolean isOurs(Chain chain) {
    return Arrays.stream(Family.values())
        .anyMatch(f -> chain(f).name().equals(chain.name()) || pin(f).name().equals(chain.name()));
  }

  static boolean isOurs(NftSet set) {
    return Arrays.stream(Family.values())
        .flatMap(family -> Stream.of(exempt(family), sources(family)))
        .anyMatch(ours -> ours.name().equals(set.name()));
  }

  /** A set of versions before 0.2.0, which the rules of that family may still use. */
  static String earlierSet(Family family) {
    return "areas" + number(family);
  }

  private static int number(Family family) {
    return switch (family) {
      case IPV4 -> 4;
      case IPV6 -> 6;
    };
  }

  private static KeyType keyType(Family family) {
    return switch (family) {
      case IPV4 -> KeyType.IPV4_ADDR;
      case IPV6 -> KeyType.IPV6_ADDR;
    };
  }
}
