package ipmasq.e2e;

import ipmasq.net.Family;
import java.util.ArrayList;
import java.util.List;

/** The rules that must stand in the nat table, as {@code iptables-save} prints them. */
public final class Expected {
  public static final String CHAIN = "IP-MASQ-AGENT";
  public static final String LINK_LOCAL = "169.254.0.0/16";
  public static final String LINK_LOCAL6 = "fe80::/10";

  public static final List<String> DEFAULTS =
      rules(LINK_LOCAL, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16");
  public static final List<String> DEFAULTS6 = rules(LINK_LOCAL6);

  private Expected() {}

  public static List<String> defaults(Family family) {
    return family == Family.IPV4 ? DEFAULTS : DEFAULTS6;
  }

  /** The jump and our chain, in which these ranges are exempt. */
  public static List<String> rules(String... exempt) {
    List<String> rules = new ArrayList<>(List.of(jump(CHAIN)));
    rules.addAll(chain(CHAIN, exempt));
    return rules;
  }

  public static String jump(String chain) {
    return "-A POSTROUTING -m comment --comment \"ip-masq-agent: ensure nat POSTROUTING directs all"
        + " non-LOCAL destination traffic to our custom "
        + chain
        + " chain\" -m addrtype ! --dst-type LOCAL -j "
        + chain;
  }

  public static List<String> chain(String name, String... exempt) {
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
