package ipmasq.backend.iptables;

import java.util.Set;

/**
 * The names of our chains.
 *
 * @param main the chain that POSTROUTING jumps to
 * @param out the chain that translates, where exceptions need one
 */
record Names(String main, String out) {
  static final String POSTROUTING = "POSTROUTING";

  /** Chains that only ever were ours, or GCE's bootstrap script's, even when they are empty. */
  static final Set<String> FORMER =
      Set.of("IP-MASQ-AGENT", "IP-MASQ-AGENT-OUT", "IP-MASQ", "NON-MASQUERADE-DAEMON");

  private static final Set<String> RESERVED =
      Set.of(
          POSTROUTING,
          "PREROUTING",
          "INPUT",
          "OUTPUT",
          "FORWARD",
          "ACCEPT",
          "DROP",
          "QUEUE",
          "RETURN",
          "MASQUERADE",
          "SNAT",
          "DNAT",
          "REDIRECT");
  private static final int LONGEST = 28; // the kernel's 32 with what iptables keeps for itself

  /** The names for a chain that iptables can take; which it can is checked where it is read. */
  static Names of(String chain) {
    boolean fits = !chain.isEmpty() && chain.length() <= LONGEST && !RESERVED.contains(chain);
    for (int i = 0; fits && i < chain.length(); i++) {
      char c = chain.charAt(i);
      fits = c > ' ' && c < 127 && c != '"' && c != '\'' && c != '\\';
    }
    if (!fits || chain.startsWith("-") || chain.startsWith("!")) {
      throw new IllegalArgumentException("not a name for a chain: " + chain);
    }
    return new Names(chain, out(chain));
  }

  private static String out(String chain) {
    String out = chain.substring(0, Math.min(chain.length(), LONGEST - 4)) + "-OUT";
    return out.equals(chain) ? chain.substring(0, LONGEST - 4) + "-VIA" : out;
  }
}
