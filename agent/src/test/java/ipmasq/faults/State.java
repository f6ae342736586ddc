package ipmasq.faults;

import ipmasq.e2e.Node;
import ipmasq.net.Family;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What is in force in the kernel, as its own programs list it: a text for each backend and family,
 * empty where there is nothing. Each of them changes in one step.
 */
record State(Map<String, String> parts) {
  private static final String TABLE = "ip-masq-agent";

  /** A set that no chain uses does nothing, so a family without its chain is nothing. */
  static State of(Node node) {
    Map<String, String> parts = new LinkedHashMap<>();
    for (Family family : Family.values()) {
      parts.put("iptables " + family, String.join("\n", node.rules(family)));
      String number = family == Family.IPV4 ? "4" : "6";
      String chain = list(node, "chain", "postrouting" + number);
      parts.put(
          "nftables " + family,
          chain.isEmpty() ? "" : chain + list(node, "set", "exempt" + number));
    }
    return new State(parts);
  }

  private static String list(Node node, String kind, String name) {
    String text = node.namespace().run("nft", "-s", "list", kind, "inet", TABLE, name).stdout();
    int flags = text.indexOf("flags owner"); // of the table, while somebody owns it
    return flags < 0 ? text : text.substring(text.indexOf('\n', flags));
  }

  /** The same without the rules of others in the nat table. */
  State ours() {
    Map<String, String> ours = new LinkedHashMap<>();
    parts.forEach(
        (part, text) ->
            ours.put(
                part,
                part.startsWith("nftables")
                    ? text
                    : text.lines()
                        .filter(line -> line.contains("ip-masq-agent"))
                        .collect(Collectors.joining("\n"))));
    return new State(ours);
  }

  boolean nothing() {
    return parts.values().stream().allMatch(String::isEmpty);
  }

  /** Whether each part is that of one of these, whole. */
  boolean madeOf(State... others) {
    return parts.entrySet().stream()
        .allMatch(
            part ->
                List.of(others).stream()
                    .anyMatch(other -> other.parts.get(part.getKey()).equals(part.getValue())));
  }

  /** Whether a family is looked after by any backend. */
  boolean covers(Family family) {
    return parts.entrySet().stream()
        .anyMatch(p -> p.getKey().endsWith(family.toString()) && !p.getValue().isEmpty());
  }
}
