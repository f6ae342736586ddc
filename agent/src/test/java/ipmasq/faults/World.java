package ipmasq.faults;

import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A policy that a node can be in: a config, or no rules at all.
 *
 * @param exempt the ranges of the file that probes are sent to
 * @param ballast more ranges, which make the way there longer
 */
record World(String name, boolean any, List<String> exempt, int ballast) {
  static final World NOTHING = new World("nothing", false, List.of(), 0);
  static final World OLD = new World("old", true, List.of("10.0.0.0/8", "172.16.0.0/12"), 0);
  static final World NEW =
      new World("new", true, List.of("172.16.0.0/12", "203.0.113.0/24", "fd00::/8"), 1500);

  /** Masqueraded by both, exempt in both, changing in either direction; and IPv6. */
  static final List<String> DESTINATIONS =
      List.of("8.8.8.8", "172.20.1.1", "10.9.9.9", "203.0.113.9", "fd00:9::9", "2600::9");

  boolean masquerades(String destination) {
    return any
        && exempt.stream()
            .map(Cidr::of)
            .filter(cidr -> cidr.family() == Ip.of(destination).family())
            .noneMatch(cidr -> cidr.contains(Ip.of(destination)));
  }

  /** The config file. */
  String file() {
    String more =
        IntStream.range(0, ballast)
            .mapToObj(i -> "- 44." + i / 128 + "." + i % 128 * 2 + ".0/24\n")
            .collect(Collectors.joining());
    String list = exempt.stream().map(c -> "- \"" + c + "\"\n").collect(Collectors.joining());
    return "enableIPv6: true\ncidrLimit: 5000\nnonMasqueradeCIDRs:\n" + list + more;
  }
}
