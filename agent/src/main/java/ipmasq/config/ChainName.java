package ipmasq.config;

import java.nio.charset.StandardCharsets;
import java.util.Set;

/** Valid names for the agent's chain. */
final class ChainName {
  static final int MAX_BYTES = 28;

  private static final Set<String> BUILT_IN =
      Set.of("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING");

  /** A jump to one of these would be a jump to the target, so iptables refuses such chains. */
  private static final Set<String> TARGETS =
      Set.of(
          """
          ACCEPT AUDIT CHECKSUM CLASSIFY CLUSTERIP CONNMARK CONNSECMARK CT DNAT DNPT DROP DSCP
          ECN HL HMARK IDLETIMER LED LOG MARK MASQUERADE NETMAP NFLOG NFQUEUE NOTRACK QUEUE
          RATEEST REDIRECT REJECT RETURN SECMARK SET SNAT SNPT SYNPROXY TCPMSS TCPOPTSTRIP TEE
          TOS TPROXY TRACE TTL ULOG
          """
              .split("\\s+"));

  private ChainName() {}

  /** Why a text is not a valid name for every iptables; empty if it is. */
  static String fault(String text) {
    if (text.isEmpty()) {
      return "a chain needs a name";
    }
    int bytes = text.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > MAX_BYTES) {
      return "chain "
          + Phrases.quoted(text)
          + " is too long: "
          + bytes
          + " of at most 28 characters";
    }
    if (text.charAt(0) == '-' || text.charAt(0) == '!') {
      return "chain " + Phrases.quoted(text) + " must not start with " + text.charAt(0);
    }
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isWhitespace(c) || Character.isSpaceChar(c) || Character.isISOControl(c)) {
        return "chain " + Phrases.quoted(text) + " must not contain white space";
      }
      if (c == '"' || c == '\'' || c == '\\' || c == '`') {
        return "chain " + Phrases.quoted(text) + " must not contain " + c;
      }
    }
    if (BUILT_IN.contains(text)) {
      return "chain " + text + " is one of the kernel's own";
    }
    return TARGETS.contains(text) ? "chain " + text + " has the name of a target" : "";
  }
}
