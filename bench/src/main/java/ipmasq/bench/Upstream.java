package ipmasq.bench;

/** The rules that the Go agent writes, as a text for iptables-restore. */
final class Upstream {
  private static final String CHAIN = "IP-MASQ-AGENT";
  private static final String LOCAL =
      "-m comment --comment \"ip-masq-agent: local traffic is not subject to MASQUERADE\"";

  private Upstream() {}

  static String rules(Ranges ranges) {
    StringBuilder text = new StringBuilder(head());
    for (int i = 0; i < ranges.count(); i++) {
      exempt(text, "-d " + ranges.range(i));
    }
    return text.append(tail()).toString();
  }

  /** The same with one look into an ipset in place of the list. */
  static String rulesWithSet(String set) {
    StringBuilder text = new StringBuilder(head());
    exempt(text, "-m set --match-set " + set + " dst");
    return text.append(tail()).toString();
  }

  private static String head() {
    StringBuilder text = new StringBuilder("*nat\n:" + CHAIN + " - [0:0]\n");
    text.append("-A POSTROUTING -m comment --comment \"ip-masq-agent: ensure nat POSTROUTING")
        .append(" directs all non-LOCAL destination traffic to our custom ")
        .append(CHAIN)
        .append(" chain\" -m addrtype ! --dst-type LOCAL -j ")
        .append(CHAIN)
        .append('\n');
    exempt(text, "-d 169.254.0.0/16");
    return text.toString();
  }

  private static void exempt(StringBuilder text, String what) {
    text.append("-A ").append(CHAIN).append(' ').append(what).append(' ').append(LOCAL);
    text.append(" -j RETURN\n");
  }

  private static String tail() {
    return "-A "
        + CHAIN
        + " -m comment --comment \"ip-masq-agent: outbound traffic is subject to MASQUERADE (must"
        + " be last in chain)\" -j MASQUERADE --random-fully\nCOMMIT\n";
  }
}
