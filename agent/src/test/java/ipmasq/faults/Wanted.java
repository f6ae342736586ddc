package ipmasq.faults;

import ipmasq.e2e.Node;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a node's rules must be for each of some configs: what {@code apply} makes of them. */
record Wanted(Map<String, State> byConfig) {
  private static final List<List<String>> LISTS =
      List.of(
          List.of("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fd00::/8"),
          List.of("10.0.0.0/8", "203.0.113.0/24", "198.51.100.0/24", "fd00:1::/64"),
          List.of("10.9.0.0/16"),
          List.of());

  static Wanted by(String backend) {
    Map<String, State> states = new LinkedHashMap<>();
    for (List<String> list : LISTS) {
      StringBuilder config = new StringBuilder("enableIPv6: true\nnonMasqueradeCIDRs:\n");
      list.forEach(range -> config.append("- \"").append(range).append("\"\n"));
      try (Node node = Node.open()) {
        node.volume().write(config.toString());
        node.commandWithConfig("apply", "--backend=" + backend).ok();
        states.put(config.toString(), State.of(node).ours());
      }
    }
    return new Wanted(states);
  }

  List<String> configs() {
    return new ArrayList<>(byConfig.keySet());
  }

  State of(String config) {
    State state = byConfig.get(config);
    if (state == null) {
      throw new IllegalArgumentException(config);
    }
    return state;
  }
}
