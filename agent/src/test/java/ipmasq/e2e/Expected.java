package ipmasq.e2e;

import ipmasq.net.Family;
import java.util.ArrayList;
import java.util.List;

/** The rules that must stand in the nat table, as {@code iptables-save} prints them. */
final class Expected {
  static final String CHAIN = "IP-MASQ-AGENT";
  static final String LINK_LOCAL = "169.254.0.0/16";
  static final String LINK_LOCAL6 = "fe80::/10";

  static final List<String> DEFAULTS =
      rules(LINK_LOCAL, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16");
  static final List<String> DEFAULTS6 = rules(LINK_LOCAL6);

  private Expected() {}

  static List<String> defaults(Family family) {
    return family == Family.IPV4 ? DEFAULTS : DEFAULTS6;
  }

  /** The jump and our chain, in which these ranges are exempt. */
  static List<String> rules(String... exempt) {
    List<String> rules = new ArrayList<>(List.of(jump(CHAIN)));
    rules.addAll(chain(CHAIN, exempt));
    return rules;
  }

  static String jump(String chain) {
    return "-A POSTROUTING -m comment --comment \"ip-masq-agent: ensure nat POSTROUTING directs all"
        + " non-LOCAL destination traffic to our custom "
        + chain
        + " chain\" -m addrtype ! --dst-type LOCAL -j "
        + chain;
  }

  static List<String> chain(String name, String... exempt) {
    List<String> rules = new ArrayList<>();
    for (String range : exempt) {
      rules.add(
          "-A "
              + name
              + " -d "
              + range
              + " -m comment --comment \"ip-masq-agent: local traffic is not subject to MASQUERADE\""
              + " -j RETURN");
    }
    rules.add(
        "-A "
            + name
            + " -m comment --comment \"ip-masq-agent: outbound traffic is subject to MASQUERADE"
            + " (must be last in chain)\" -j MASQUERADE --random-fully");
    return rules;
  }
}
