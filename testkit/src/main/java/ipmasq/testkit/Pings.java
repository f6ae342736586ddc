package ipmasq.testkit;

import ipmasq.testkit.Sighting.Seen;
import ipmasq.testkit.Sighting.Unseen;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Echo requests, which Java cannot send itself. The receiving host's own rules note from where each
 * one came.
 */
final class Pings {
  private static final String NOTES =
      """
      table inet pings
      delete table inet pings
      table inet pings {
        set seen4 { type ipv4_addr . ipv4_addr; size 65535; flags dynamic; }
        set seen6 { type ipv6_addr . ipv6_addr; size 65535; flags dynamic; }
        chain note {
          type filter hook prerouting priority raw;
          icmp type echo-request add @seen4 { ip daddr . ip saddr }
          icmpv6 type echo-request add @seen6 { ip6 daddr . ip6 saddr }
        }
      }
      """;

  private Pings() {}

  static List<Sighting> send(Namespace from, Namespace to, List<InetAddress> destinations) {
    to.feed(NOTES, "nft", "-f", "-").ok();
    List<String> script = new ArrayList<>();
    for (InetAddress destination : destinations) {
      script.add("ping -n -q -c 1 -W 2 " + destination.getHostAddress() + " &");
    }
    from.run("sh", "-c", String.join("\n", script) + "\nwait"); // unanswered is no error here
    String notes = to.nft("list", "table", "inet", "pings");
    return destinations.stream().map(destination -> sighting(to, destination, notes)).toList();
  }

  private static Sighting sighting(Namespace to, InetAddress destination, String notes) {
    Matcher note = Pattern.compile("([0-9a-f.:]+) \\. ([0-9a-f.:]+)").matcher(notes);
    while (note.find()) {
      if (InetAddress.ofLiteral(note.group(1)).equals(destination)) {
        return new Seen(to, InetAddress.ofLiteral(note.group(2)), 0);
      }
    }
    return new Unseen("no echo request for " + destination.getHostAddress() + " arrived");
  }
}
