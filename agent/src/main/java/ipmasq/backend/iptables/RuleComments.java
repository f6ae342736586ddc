package ipmasq.backend.iptables;

import java.util.List;
import java.util.Map;

/**
 * The exact comments of our rules: tools and people search for them. Also those of earlier
 * versions, to tell their rules from other programs'.
 */
final class RuleComments {
  static final String EXEMPT = "ip-masq-agent: local traffic is not subject to MASQUERADE";
  static final String EXCEPTION =
      "ip-masq-agent: traffic to this part of a local range is subject to MASQUERADE";
  static final String OUTBOUND =
      "ip-masq-agent: outbound traffic is subject to MASQUERADE (must be last in chain)";

  /** How our comments begin, in any version; the second is that of GCE's bootstrap script. */
  private static final List<String> OURS =
      List.of("ip-masq-agent: ", "ip-masq: ", "non-masquerade-daemon: ");

  private static final String JUMP =
      "ensure nat POSTROUTING directs all non-LOCAL destination traffic to our custom ";

  /** v0.4.0 to v2.0.0, without the program's name. */
  private static final Map<String, String> OLDER =
      Map.of(
          "cluster-local traffic should not be subject to MASQUERADE",
          EXEMPT,
          "outbound traffic should be subject to MASQUERADE"
              + " (this match must come after cluster-local CIDR matches)",
          OUTBOUND);

  private RuleComments() {}

  static String jump(String chain) {
    return "ip-masq-agent: " + JUMP + chain + " chain";
  }

  /** No version wrote a line end, and iptables-restore could not delete such a rule. */
  static boolean ours(String comment) {
    return prefix(unquoted(comment)) > 0 && comment.indexOf('\n') < 0;
  }

  static boolean jumps(String comment) {
    String plain = unquoted(comment);
    int prefix = prefix(plain);
    return prefix > 0 && plain.startsWith(JUMP, prefix);
  }

  /** The current wording of a comment; unchanged if it is current or not ours. */
  static String modern(String comment) {
    String plain = unquoted(comment);
    String older = OLDER.get(plain.substring(prefix(plain)));
    return older == null ? comment : older;
  }

  /** A quick check before a line is searched for comments. */
  static boolean maybeOurs(String line) {
    return line.contains("ip-masq") || line.contains("non-masquerade-daemon: ");
  }

  private static int prefix(String comment) {
    for (String prefix : OURS) {
      if (comment.startsWith(prefix)) {
        return prefix.length();
      }
    }
    return 0;
  }

  /** v2.10.0 to v2.12.1 wrote quotes as part of the comment. */
  private static String unquoted(String comment) {
    return comment.length() > 1 && comment.startsWith("\"") && comment.endsWith("\"")
        ? comment.substring(1, comment.length() - 1)
        : comment;
  }
}
