package ipmasq.e2e;

import static ipmasq.e2e.Expected.DEFAULTS;
import static ipmasq.e2e.Expected.DEFAULTS6;
import static ipmasq.e2e.Expected.LINK_LOCAL;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.KernelTest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What a former config asked for, and today's does not, goes. */
@KernelTest
@Tag("listing")
@Execution(ExecutionMode.CONCURRENT)
class LeftoversTest {
  @Test
  void withIpv6TurnedOffItsRulesGo() {
    try (Node node = Node.open()) {
      AgentProcess dual = node.running("--enable-ipv6");
      assertEquals(DEFAULTS6, node.rules(Family.IPV6));
      dual.terminate();
      dual.awaitExit();
      node.running("--v=2");
      node.awaitRules(Family.IPV6, List.of());
      assertEquals(DEFAULTS, node.rules(Family.IPV4));
    }
  }

  @Test
  void withIpv6TurnedOffInTheFileTheyGoToo() {
    try (Node node = Node.open()) {
      node.volume().publish("enableIPv6: true\nresyncInterval: 1s\n");
      node.running();
      assertEquals(DEFAULTS6, node.rules(Family.IPV6));
      node.volume().publish("resyncInterval: 1s\n");
      node.awaitRules(Family.IPV6, List.of());
      assertEquals(DEFAULTS, node.rules(Family.IPV4));
    }
  }

  @Test
  void twoAgentsWithDifferentChainsLeaveEachOthersAlone() {
    try (Node node = Node.open()) {
      AgentProcess first = node.running("--masq-chain=FIRST");
      AgentProcess second = node.running("--masq-chain=SECOND");
      second.awaitLine(l -> l.contains("chain FIRST is another ip-masq-agent's"));
      List<String> both = node.rules(Family.IPV4);
      assertTrue(both.containsAll(chain("FIRST", LINK_LOCAL, "10.0.0.0/8")), both.toString());
      assertTrue(both.containsAll(chain("SECOND", LINK_LOCAL, "10.0.0.0/8")), both.toString());
      first.terminate();
      first.awaitExit();
      node.command("cleanup", "--masq-chain=FIRST").ok();
      assertFalse(node.namespace().iptablesSave("nat").contains("FIRST"));
      assertTrue(second.running());
    }
  }

  @Test
  void withAnotherChainNameTheOldChainAndItsJumpGo() {
    try (Node node = Node.open()) {
      node.volume().publish("masqChain: FIRST\nresyncInterval: 1s\n");
      node.running();
      node.volume().publish("masqChain: SECOND\nresyncInterval: 1s\n");
      node.awaitRules(
          Family.IPV4,
          chain("SECOND", LINK_LOCAL, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"));
      assertFalse(node.namespace().iptablesSave("nat").contains(":FIRST"));
    }
  }

  /** A staged rollout: a new process reads a new file. */
  @Test
  void withAnotherChainNameTheChainOfTheProcessBeforeGoes(@TempDir Path state) {
    try (Node node = Node.open()) {
      node.volume().publish("masqChain: FIRST\n");
      AgentProcess first = node.running("--state-dir=" + state);
      first.terminate();
      first.awaitExit();
      node.volume().publish("masqChain: SECOND\n");
      node.running("--state-dir=" + state);
      assertEquals(
          chain("SECOND", LINK_LOCAL, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
          node.rules(Family.IPV4));
      assertFalse(node.namespace().iptablesSave("nat").contains(":FIRST"));
    }
  }

  private static List<String> chain(String name, String... exempt) {
    List<String> rules = new ArrayList<>(List.of(Expected.jump(name)));
    rules.addAll(Expected.chain(name, exempt));
    return rules;
  }
}
