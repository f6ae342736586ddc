package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.http.Fetch;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Result;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A native rule in a table of iptables, which iptables can then neither list nor change. */
@KernelTest
@Execution(ExecutionMode.CONCURRENT)
class UnlistableRulesTest {
  private static final String NATIVE = "add rule ip nat POSTROUTING ct mark set 4";
  private static final InetSocketAddress AGENT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 10347);

  @Test
  void rulesThatCannotBeReadAreNotSaidToBeMissing() throws Exception {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running("--backend=iptables", "--listen=127.0.0.1:10347");
      agent.awaitLine(line -> line.contains("listening on"));
      node.namespace().nft(NATIVE);
      agent.awaitLine(line -> line.contains("ERROR") && line.contains("incompatible"));
      Result status = node.command("status");
      assertEquals(1, status.exit(), status.toString());
      assertTrue(
          status.stdout().startsWith("Not ready: the IPv4 rules cannot be read: iptables"),
          status.toString());
      assertFalse(status.stdout().contains("not in force"), status.toString());
      assertTrue(status.stdout().contains("or set backend: nftables"), status.toString());
      Fetch.Fetched ready = node.namespace().call(() -> Fetch.get(AGENT, "/readyz"));
      assertEquals(503, ready.status());
      assertTrue(ready.body().startsWith("not ready: the IPv4 rules cannot be read: "), "" + ready);
      assertTrue(ready.body().contains("or set backend: nftables"), ready.toString());
    }
  }

  @Test
  void aChainThatIptablesCannotRemoveIsReportedAndTheAdviceHelps() {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running();
      node.namespace().nft(NATIVE);
      agent.awaitLine(line -> line.contains("backend nftables: iptables cannot hold our rules"));
      agent.awaitLine(line -> line.contains("WARN") && told(line));
      String status = node.command("status").stdout();
      assertTrue(told(status), status);
      agent.terminate();
      agent.awaitExit();
      Result cleanup = node.command("cleanup");
      assertEquals(1, cleanup.exit(), cleanup.toString());
      assertTrue(told(cleanup.stderr()), cleanup.toString());
      String jump =
          node.namespace()
              .nft("-a", "list", "chain", "ip", "nat", "POSTROUTING")
              .lines()
              .filter(line -> line.contains("jump IP-MASQ-AGENT"))
              .findFirst()
              .orElseThrow();
      node.namespace().nft("delete rule ip nat POSTROUTING handle " + jump.replaceAll(".* ", ""));
      node.namespace().nft("flush chain ip nat IP-MASQ-AGENT");
      node.namespace().nft("delete chain ip nat IP-MASQ-AGENT");
      AgentProcess next = node.running("--backend=nftables", "--v=2");
      next.awaitLine(line -> line.contains("found everything in place"));
      assertFalse(next.stderr().stream().anyMatch(UnlistableRulesTest::told), next::toString);
    }
  }

  private static boolean told(String text) {
    return text.contains("chain IP-MASQ-AGENT in table ip nat")
        && text.contains("nft -a list chain ip nat POSTROUTING")
        && text.contains("nft delete rule ip nat POSTROUTING handle N")
        && text.contains("nft flush chain ip nat IP-MASQ-AGENT")
        && text.contains("nft delete chain ip nat IP-MASQ-AGENT");
  }

  @Test
  void theyCanBeReadAgainWhenTheRuleIsGone() {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running("--backend=iptables");
      node.namespace().nft(NATIVE);
      agent.awaitLine(line -> line.contains("incompatible"));
      String rule =
          node.namespace()
              .nft("-a", "list", "chain", "ip", "nat", "POSTROUTING")
              .lines()
              .filter(line -> line.contains("mark set"))
              .findFirst()
              .orElseThrow();
      node.namespace().nft("delete rule ip nat POSTROUTING handle " + rule.replaceAll(".* ", ""));
      agent.awaitLine(line -> line.contains("IPv4 rules are in place again"));
      Eventually.eventually(
          "a good status",
          () -> node.command("status").stdout(),
          status -> status.startsWith("IPv4 masquerading is in force"));
    }
  }
}
