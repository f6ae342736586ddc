package ipmasq.net;

import java.util.List;

/** Transport protocols: one name for each, and its number. */
public final class Protocols {
  /** Those that a question about a packet may name. */
  public static final List<String> ASKED = List.of("tcp", "udp", "sctp", "icmp");

  private Protocols() {}

  public static String name(int number) {
    return switch (number) {
      case 1 -> "icmp";
      case 6 -> "tcp";
      case 17 -> "udp";
      case 58 -> "icmpv6";
      case 132 -> "sctp";
      default -> String.valueOf(number);
    };
  }

  /** The name for what iptables prints: a name of /etc/protocols, or a number. */
  public static String canonical(String text) {
    return switch (text) {
      case "ipv6-icmp", "58" -> "icmpv6";
      case "1" -> "icmp";
      case "6" -> "tcp";
      case "17" -> "udp";
      case "132" -> "sctp";
      case "esp" -> "50";
      case "ah" -> "51";
      case "gre" -> "47";
      case "ipip", "ipencap" -> "4";
      case "udplite" -> "136";
      case "dccp" -> "33";
      default -> text;
    };
  }

  /** Whether the text is such a name: any other may stand for any number. */
  public static boolean isKnown(String canonical) {
    return !canonical.isEmpty()
        && (canonical.chars().allMatch(c -> c >= '0' && c <= '9')
            || switch (canonical) {
              case "icmp", "tcp", "udp", "icmpv6", "sctp" -> true;
              default -> false;
            });
  }

  public static int number(String canonical) {
    return switch (canonical) {
      case "icmp" -> 1;
      case "tcp" -> 6;
      case "udp" -> 17;
      case "icmpv6" -> 58;
      case "sctp" -> 132;
      default -> Integer.parseInt(canonical);
    };
  }

  /** The number of a protocol as users name it. */
  public static int number(String name, Family family) {
    return number(of(name, family));
  }

  /** What {@code icmp} means in a family. */
  public static String of(String name, Family family) {
    return family == Family.IPV6 && name.equals("icmp") ? "icmpv6" : name;
  }
}
