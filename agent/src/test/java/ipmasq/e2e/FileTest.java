package ipmasq.e2e;

import static ipmasq.e2e.Expected.DEFAULTS;
import static ipmasq.e2e.Expected.LINK_LOCAL;
import static ipmasq.e2e.Expected.rules;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.KernelTest;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The rules follow the file, and survive it when it is bad. */
@KernelTest
@Execution(ExecutionMode.CONCURRENT)
class FileTest {
  private static final String NARROW = "nonMasqueradeCIDRs: [10.9.0.0/16]\nresyncInterval: 1s\n";
  private static final List<String> NARROW_RULES = rules(LINK_LOCAL, "10.9.0.0/16");
  private static final String BAD = "nonMasqueradeCIDRs: [10.9.0.1/16]\nresyncInterval: 1s\n";
  private static final String OFTEN = "--resync-interval=1";

  @Test
  void theFirstStartOnAFreshNodeWritesTheDefaults() {
    try (Node node = Node.open()) {
      node.running();
      assertEquals(DEFAULTS, node.rules(Family.IPV4));
      assertEquals(List.of(), node.rules(Family.IPV6));
    }
  }

  @Test
  void aVolumesSwapsAreFollowed() {
    try (Node node = Node.open()) {
      node.volume().publish(NARROW);
      AgentProcess agent = node.running();
      assertEquals(NARROW_RULES, node.rules(Family.IPV4));
      node.volume().publish("nonMasqueradeCIDRs: [10.8.0.0/16]\nresyncInterval: 1s\n");
      node.awaitRules(Family.IPV4, rules(LINK_LOCAL, "10.8.0.0/16"));
      agent.awaitLine(line -> line.contains("-10.9.0.0/16 +10.8.0.0/16"));
      node.volume().publish("masqLinkLocal: true\nresyncInterval: 1s\n");
      node.awaitRules(Family.IPV4, rules("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"));
      node.volume().publish(Map.of());
      node.awaitRules(Family.IPV4, DEFAULTS);
    }
  }

  @Test
  void aFileThatIsWrittenReplacedAndRemovedIsFollowed() {
    try (Node node = Node.open()) {
      node.running(OFTEN);
      node.volume().write(NARROW);
      node.awaitRules(Family.IPV4, NARROW_RULES);
      node.volume().replace("nonMasqueradeCIDRs: [10.8.0.0/16]\nresyncInterval: 1s\n");
      node.awaitRules(Family.IPV4, rules(LINK_LOCAL, "10.8.0.0/16"));
      node.volume().remove();
      node.awaitRules(Family.IPV4, DEFAULTS);
    }
  }

  @Test
  void aFileThatIsBadAtTheStartMeansDefaultsThatAreHealed() {
    try (Node node = Node.open()) {
      node.volume().publish(BAD);
      AgentProcess agent = node.running(OFTEN);
      agent.awaitLine(line -> line.contains("ERROR " + node.volume().file() + ":1:22: CIDR"));
      assertEquals(DEFAULTS, node.rules(Family.IPV4));
      node.iptables(Family.IPV4, "-F IP-MASQ-AGENT");
      node.awaitRules(Family.IPV4, DEFAULTS);
      node.volume().publish(NARROW);
      node.awaitRules(Family.IPV4, NARROW_RULES);
      agent.awaitLine(line -> line.contains("the config file is good again"));
    }
  }

  @Test
  void aFileThatTurnsBadLeavesTheLastGoodOneInForceAndHealed() {
    try (Node node = Node.open()) {
      node.volume().publish(NARROW);
      AgentProcess agent = node.running();
      node.volume().publish(BAD);
      agent.awaitLine(line -> line.contains("ERROR " + node.volume().file() + ":1:22: CIDR"));
      assertEquals(NARROW_RULES, node.rules(Family.IPV4));
      node.iptables(Family.IPV4, "-F IP-MASQ-AGENT");
      node.awaitRules(Family.IPV4, NARROW_RULES);
      node.iptables(Family.IPV4, "-F POSTROUTING");
      node.awaitRules(Family.IPV4, NARROW_RULES);
      node.volume().publish("nonMasqueradeCIDRs: [10.8.0.0/16]\n");
      node.awaitRules(Family.IPV4, rules(LINK_LOCAL, "10.8.0.0/16"));
      long complaints = agent.stderr().stream().filter(line -> line.contains(" ERROR ")).count();
      assertEquals(1, complaints, "said once, not each time it is seen: " + agent);
    }
  }

  @Test
  void aFileThatIsBadAtTheStartLeavesAnEarlierRunsRulesInForceAndHealed() {
    try (Node node = Node.open()) {
      node.volume().publish(NARROW);
      AgentProcess earlier = node.running();
      earlier.terminate();
      assertEquals(0, earlier.awaitExit());
      node.volume().publish(BAD);
      AgentProcess agent = node.running(OFTEN, "--v=2");
      assertEquals(NARROW_RULES, node.rules(Family.IPV4));
      assertTrue(agent.stderr().stream().noneMatch(l -> l.contains("rules changed")), "" + agent);
      node.iptables(Family.IPV4, "-F IP-MASQ-AGENT");
      node.awaitRules(Family.IPV4, NARROW_RULES);
      node.volume().publish("resyncInterval: 1s\n");
      node.awaitRules(Family.IPV4, DEFAULTS);
    }
  }

  @Test
  void severalFilesAreOne() {
    try (Node node = Node.open()) {
      node.volume().publish(NARROW);
      var more = node.volume().directory().resolve("more");
      node.start("--config=" + more);
      node.awaitRules(Family.IPV4, NARROW_RULES);
      node.volume()
          .publish(Map.of("ip-masq-agent", NARROW, "more", "nonMasqueradeCIDRs: [10.8.0.0/16]\n"));
      node.awaitRules(Family.IPV4, rules(LINK_LOCAL, "10.9.0.0/16", "10.8.0.0/16"));
    }
  }
}
