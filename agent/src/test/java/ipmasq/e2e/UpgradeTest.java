package ipmasq.e2e;

import static ipmasq.e2e.Expected.DEFAULTS;
import static ipmasq.e2e.Expected.LINK_LOCAL;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.KernelTest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What former versions left on a live node is taken over, or swept away, at the first start. */
@KernelTest
@Tag("listing")
@Execution(ExecutionMode.CONCURRENT)
class UpgradeTest {
  private static final String FOREIGN = "-A POSTROUTING -s 10.1.0.0/16 -j ACCEPT";

  /** v0.4.0 to v2.0.0. */
  private static final String EARLY =
      """
      :IP-MASQ-AGENT - [0:0]
      -A POSTROUTING -m comment --comment "ip-masq-agent: ensure nat POSTROUTING directs all \
      non-LOCAL destination traffic to our custom IP-MASQ-AGENT chain" \
      -m addrtype ! --dst-type LOCAL -j IP-MASQ-AGENT
      -A IP-MASQ-AGENT -d 169.254.0.0/16 -m comment --comment "ip-masq-agent: cluster-local \
      traffic should not be subject to MASQUERADE" -m addrtype ! --dst-type LOCAL -j RETURN
      -A IP-MASQ-AGENT -d 10.77.0.0/16 -m comment --comment "ip-masq-agent: cluster-local \
      traffic should not be subject to MASQUERADE" -m addrtype ! --dst-type LOCAL -j RETURN
      -A IP-MASQ-AGENT -m comment --comment "ip-masq-agent: outbound traffic should be subject to \
      MASQUERADE (this match must come after cluster-local CIDR matches)" \
      -m addrtype ! --dst-type LOCAL -j MASQUERADE
      """;

  /** v2.10.0 to v2.12.1: the jump's comment has quotes of its own. */
  private static final String QUOTED =
      """
      :IP-MASQ-AGENT - [0:0]
      -A POSTROUTING -m comment --comment "\\"ip-masq-agent: ensure nat POSTROUTING directs all \
      non-LOCAL destination traffic to our custom IP-MASQ-AGENT chain\\"" \
      -m addrtype ! --dst-type LOCAL -j IP-MASQ-AGENT
      -A IP-MASQ-AGENT -d 10.77.0.0/16 -m comment --comment "ip-masq-agent: local \
      traffic is not subject to MASQUERADE" -j RETURN
      -A IP-MASQ-AGENT -m comment --comment "ip-masq-agent: outbound traffic is subject to \
      MASQUERADE (must be last in chain)" -j MASQUERADE --random-fully
      """;

  /** Both jumps, as an upgrade by the Go agent leaves them. */
  private static final String TWICE = QUOTED + Expected.jump(Expected.CHAIN) + "\n";

  /** GCE's bootstrap script. */
  private static final String GCE =
      """
      :IP-MASQ - [0:0]
      -A POSTROUTING -m comment --comment "ip-masq: ensure nat POSTROUTING directs all \
      non-LOCAL destination traffic to our custom IP-MASQ chain" \
      -m addrtype ! --dst-type LOCAL -j IP-MASQ
      -A IP-MASQ -d 169.254.0.0/16 -m comment --comment "ip-masq: local traffic is not subject \
      to MASQUERADE" -j RETURN
      -A IP-MASQ -m comment --comment "ip-masq: outbound traffic is subject to MASQUERADE \
      (must be last in chain)" -j MASQUERADE
      """;

  /** v0.3.1, under the name it had then. */
  private static final String DAEMON =
      """
      :NON-MASQUERADE-DAEMON - [0:0]
      -A POSTROUTING -m comment --comment "non-masquerade-daemon: ensure nat POSTROUTING directs \
      all non-LOCAL destination traffic to our custom NON-MASQUERADE-DAEMON chain" \
      -m addrtype ! --dst-type LOCAL -j NON-MASQUERADE-DAEMON
      -A NON-MASQUERADE-DAEMON -d 169.254.0.0/16 -m comment --comment "non-masquerade-daemon: \
      cluster-local traffic should not be subject to MASQUERADE" \
      -m addrtype ! --dst-type LOCAL -j RETURN
      -A NON-MASQUERADE-DAEMON -m comment --comment "non-masquerade-daemon: outbound traffic \
      should be subject to MASQUERADE (this match must come after cluster-local CIDR matches)" \
      -m addrtype ! --dst-type LOCAL -j MASQUERADE
      """;

  static Stream<Named<String>> leftBehind() {
    Map<String, String> versions =
        Map.of(
            "v0.4.0 to v2.0.0", EARLY,
            "v2.10.0 to v2.12.1", QUOTED,
            "an upgrade from there", TWICE,
            "GCE's bootstrap", GCE,
            "v0.3.1", DAEMON,
            "GCE's bootstrap and an old agent", GCE + EARLY);
    return versions.entrySet().stream()
        .map(version -> Named.of(version.getKey(), version.getValue()));
  }

  @ParameterizedTest
  @MethodSource("leftBehind")
  void oneJumpAndOneChainRemain(String table) {
    try (Node node = Node.open()) {
      node.restore(Family.IPV4, "*nat\n" + table + FOREIGN + "\nCOMMIT\n");
      node.restore(Family.IPV6, "*nat\n" + in6(table) + "COMMIT\n");
      node.running("--enable-ipv6");
      assertEquals(Stream.of(FOREIGN).toList(), foreign(node));
      assertEquals(DEFAULTS, ours(node, Family.IPV4));
      assertEquals(Expected.DEFAULTS6, ours(node, Family.IPV6));
      for (String gone : List.of("IP-MASQ ", "NON-MASQUERADE-DAEMON")) {
        assertFalse(node.namespace().iptablesSave("nat").contains(":" + gone));
        assertFalse(node.namespace().ip6tablesSave("nat").contains(":" + gone));
      }
    }
  }

  private static String in6(String table) {
    return table.replace("169.254.0.0/16", "fe80::/10").replace("10.77.0.0/16", "fd77::/16");
  }

  private static List<String> ours(Node node, Family family) {
    List<String> rules = new ArrayList<>(node.rules(family));
    rules.remove(FOREIGN);
    return rules;
  }

  private static List<String> foreign(Node node) {
    return node.rules(Family.IPV4).stream().filter(FOREIGN::equals).toList();
  }

  @Test
  void anOldVersionsRangesAreKeptWhileTheFileIsBad() {
    try (Node node = Node.open()) {
      node.restore(Family.IPV4, "*nat\n" + EARLY + "COMMIT\n");
      node.volume().publish("nonMasqueradeCIDRs: 10.0.0.0/8\n");
      node.running();
      List<String> kept = new ArrayList<>(Expected.rules(LINK_LOCAL, "10.77.0.0/16"));
      // It did not choose ports at random, and that is kept as well.
      kept.replaceAll(rule -> rule.replace(" --random-fully", ""));
      assertEquals(kept, node.rules(Family.IPV4));
    }
  }

  @Test
  void aRestartChangesNothing() {
    try (Node node = Node.open()) {
      AgentProcess first = node.running("--enable-ipv6");
      first.terminate();
      first.awaitExit();
      AgentProcess second = node.running("--enable-ipv6", "--v=2");
      assertFalse(second.stderr().stream().anyMatch(l -> l.contains("rules changed")), "" + second);
    }
  }
}
