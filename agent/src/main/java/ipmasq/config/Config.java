package ipmasq.config;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.time.Duration;
import java.util.List;

/**
 * Everything that the file and the flags decide, every value valid.
 *
 * @param nonMasqueradeCidrs destinations that see the true source address, in the file's order
 * @param masqueradeCidrs exceptions inside them; the longest prefix wins
 * @param sourceCidrs only packets from here are ours; empty: from anywhere
 * @param outputInterfaces only packets that leave here are ours; empty: anywhere
 * @param outputAddresses the source addresses to give; at most one range a family
 * @param toPorts the source ports to give; empty: the kernel's choice
 * @param pin whether exempt destinations are kept from other chains' masquerading too
 */
public record Config(
    List<Cidr> nonMasqueradeCidrs,
    List<Cidr> masqueradeCidrs,
    List<Cidr> sourceCidrs,
    List<String> outputInterfaces,
    List<IpRange> outputAddresses,
    boolean masqLinkLocal,
    boolean masqLinkLocalIpv6,
    Duration resyncInterval,
    boolean enableIpv6,
    boolean randomFully,
    List<PortRange> toPorts,
    String masqChain,
    BackendChoice backend,
    Conntrack conntrack,
    boolean pin) {

  /** How many ranges a list may have where the rules are walked one by one. */
  public static final int DEFAULT_CIDR_LIMIT = 64;

  /** The private ranges of RFC 1918: exempt where nobody says otherwise. */
  public static final List<Cidr> PRIVATE =
      List.of(Cidr.of("10.0.0.0/8"), Cidr.of("172.16.0.0/12"), Cidr.of("192.168.0.0/16"));

  /** All reserved ranges: the default list under {@code --nomasq-all-reserved-ranges}. */
  public static final List<Cidr> RESERVED =
      List.of(
          Cidr.of("10.0.0.0/8"),
          Cidr.of("172.16.0.0/12"),
          Cidr.of("192.168.0.0/16"),
          Cidr.of("100.64.0.0/10"),
          Cidr.of("192.0.0.0/24"),
          Cidr.of("192.0.2.0/24"),
          Cidr.of("192.88.99.0/24"),
          Cidr.of("198.18.0.0/15"),
          Cidr.of("198.51.100.0/24"),
          Cidr.of("203.0.113.0/24"),
          Cidr.of("240.0.0.0/4"));

  /** Which program of the kernel to write. */
  public enum BackendChoice {
    AUTO,
    IPTABLES,
    NFTABLES,
    CNI
  }

  /** Which flows are made to follow a change of the rules. */
  public enum Conntrack {
    /** None: they keep the address they began with. */
    KEEP,
    UDP,
    ALL
  }

  public Config {
    nonMasqueradeCidrs = Cidrs.copyOf(nonMasqueradeCidrs);
    masqueradeCidrs = Cidrs.copyOf(masqueradeCidrs);
    sourceCidrs = Cidrs.copyOf(sourceCidrs);
    outputInterfaces = List.copyOf(outputInterfaces);
    outputAddresses = List.copyOf(outputAddresses);
    toPorts = List.copyOf(toPorts);
  }

  /** What holds where neither file nor flag says anything. */
  public static Config defaults() {
    return new Config(
        PRIVATE,
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        false,
        false,
        Duration.ofSeconds(60),
        false,
        true,
        List.of(),
        "IP-MASQ-AGENT",
        BackendChoice.AUTO,
        Conntrack.KEEP,
        false);
  }

  /** Whether there shall be rules for this family. */
  public boolean enables(Family family) {
    return switch (family) {
      case IPV4 -> true;
      case IPV6 -> enableIpv6;
    };
  }

  /** A copy to change. */
  public Draft draft() {
    return new Draft(this);
  }
}
