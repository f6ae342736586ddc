package ipmasq.backend.iptables;

import java.util.List;
import java.util.Map;

/**
 * The comments that our rules carry, to the letter: tools and people search for them. Also those of
 * former versions, so that what they left can be told from what others wrote.
 */
final class RuleComments {
  static final String EXEMPT = "ip-masq-agent: local traffic is not subject to MASQUERADE";
  static final String EXCEPTION =
      "ip-masq-agent: traffic to this part of a local range is subject to MASQUERADE";
  static final String OUTBOUND =
      "ip-masq-agent: outbound traffic is subject to MASQUERADE (must be last in chain)";

  /** How comments of ours begin, in whatever version; the second is GCE's bootstrap script. */
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

  static boolean ours(String comment) {
    return prefix(unquoted(comment)) > 0;
  }

  static boolean jumps(String comment) {
    String plain = unquoted(comment);
    int prefix = prefix(plain);
    return prefix > 0 && plain.startsWith(JUMP, prefix);
  }

  /** Today's wording of a comment; the same where it is today's or not ours. */
  static String modern(String comment) {
    String plain = unquoted(comment);
    String older = OLDER.get(plain.substring(prefix(plain)));
    return older == null ? comment : older;
  }

  /** A quick look at a line that may hold no comment at all. */
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
