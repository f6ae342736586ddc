package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Result;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The nftables table over the life of agents: who may change it, and what stays of it. */
@KernelTest
@Tag("listing")
class TableOwnerTest {
  private static final String NFTABLES = "--backend=nftables";

  @Test
  void afterAKillTheRulesStayAndTheNextAgentAdoptsThem() {
    try (Node node = Node.open()) {
      AgentProcess first = node.running(NFTABLES, "--enable-ipv6");
      String before = handles(node);
      first.kill();
      first.awaitExit();
      assertEquals(before, handles(node));
      AgentProcess second = node.running(NFTABLES, "--enable-ipv6");
      second.awaitLine(line -> line.contains("~the table has no owner"));
      assertEquals(before, handles(node));
      assertNotEquals(0, foreign(node, "delete table inet ip-masq-agent").exit());
      foreign(node, "flush ruleset").ok();
      assertEquals(before, handles(node));
    }
  }

  @Test
  void aSecondAgentSaysWhoHasTheTable() {
    try (Node node = Node.open()) {
      AgentProcess first = node.running(NFTABLES);
      AgentProcess second = node.start(NFTABLES);
      String owner = "table inet ip-masq-agent belongs to process " + first.pid() + " (";
      second.awaitLine(line -> line.contains(owner));
      Result cleanup = node.command("cleanup");
      assertEquals(1, cleanup.exit());
      assertTrue(cleanup.stderr().contains(owner), cleanup.toString());
      first.terminate();
      first.awaitExit();
      second.awaitLine(line -> line.contains("rules changed (retry"), Node.PATIENCE);
    }
  }

  @Test
  void cleanupRemovesEverything() {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running(NFTABLES, "--enable-ipv6");
      agent.terminate();
      assertEquals(0, agent.awaitExit());
      Result cleanup = node.command("cleanup");
      assertEquals(0, cleanup.exit(), cleanup.toString());
      Eventually.eventually(
          "no table of ours", () -> ruleset(node), rules -> !rules.contains("ip-masq-agent"));
    }
  }

  /** Once the table has an owner, nobody else could remove it. */
  @Test
  void chainsThatAreNotOursGoWhenTheTableIsAdopted() {
    try (Node node = Node.open()) {
      AgentProcess first = node.running(NFTABLES, "--enable-ipv6");
      String before = handles(node);
      first.kill();
      first.awaitExit();
      foreign(
              node,
              """
              add chain inet ip-masq-agent stray { type nat hook postrouting priority 90; }
              add chain inet ip-masq-agent target
              add map inet ip-masq-agent ways { type ipv4_addr : verdict; }
              add element inet ip-masq-agent ways { 10.0.0.1 : jump target }
              add rule inet ip-masq-agent stray ip daddr vmap @ways
              add rule inet ip-masq-agent stray masquerade
              """)
          .ok();
      String plan = node.command("plan", NFTABLES, "--enable-ipv6").stdout();
      assertTrue(plan.contains("~a chain that is not ours: stray"), plan);
      AgentProcess second = node.running(NFTABLES, "--enable-ipv6");
      second.awaitLine(line -> line.contains("~a chain that is not ours: stray"));
      assertEquals(before, handles(node));
    }
  }

  /** With handles but without the owner, which changes, and the counters. */
  private static String handles(Node node) {
    return node.namespace()
        .nft("--handle", "list", "table", "inet", "ip-masq-agent")
        .replaceAll("#? ?progname \\S+", "")
        .replaceAll("\tflags (owner)?,?(persist)?\n", "")
        .replaceAll("packets \\d+ bytes \\d+", "");
  }

  private static String ruleset(Node node) {
    return node.namespace().nft("list", "ruleset");
  }

  private static Result foreign(Node node, String commands) {
    return node.namespace().feed(commands, "nft", "-f", "-");
  }
}
