package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.http.Fetch;
import ipmasq.net.Family;
import ipmasq.output.OutputSchema;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.FakePrograms.Behaviour;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Result;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What commands, listener and log write as JSON is what the schema says. */
@KernelTest
@Execution(ExecutionMode.CONCURRENT)
class JsonOutputTest {
  private static final InetSocketAddress AGENT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 10347);

  private static final String GOOD =
      "nonMasqueradeCIDRs: [10.9.0.0/16, fd00::/8]\nenableIPv6: true\n";
  private static final String BAD = "nonMasqueradeCIDRs: [10.9.0.1/16]\n";

  private static void check(String definition, int exit, Result result) {
    assertEquals(exit, result.exit(), result::toString);
    OutputSchema.check(definition, result.stdout());
  }

  @Test
  void ofCommands() {
    try (Node node = Node.open()) {
      String file = node.volume().file().toString();
      node.volume().write(GOOD);
      check("checkOutput", 1, node.command("check", "--output=json", file, "/nowhere"));
      check(
          "configOutput",
          0,
          node.commandWithConfig("config", "--output=json", "--random-fully=false"));
      check("planOutput", 2, node.commandWithConfig("plan", "--output=json"));
      check("explainOutput", 0, node.commandWithConfig("explain", "--output=json", "8.8.8.8"));
      check("planOutput", 0, node.commandWithConfig("apply", "--output=json"));
      node.iptables(Family.IPV4, "-D POSTROUTING 1");
      check("planOutput", 2, node.commandWithConfig("plan", "--output=json"));
      check("statusOutput", 1, node.commandWithConfig("status", "--output=json"));
      node.iptables(Family.IPV4, "-I POSTROUTING 1 -s 10.244.0.0/16 -j MASQUERADE");
      check("explainOutput", 0, node.command("explain", "--output=json", "10.244.0.1", "10.9.0.1"));
      check("statusOutput", 1, node.commandWithConfig("status", "--output=json"));
      check("cleanupOutput", 0, node.commandWithConfig("cleanup", "--output=json"));
    }
  }

  @Test
  void ofCommandsThatFail() {
    try (Node node = Node.open()) {
      node.volume().write(BAD);
      for (String command : List.of("config", "plan", "apply")) {
        Result bad = node.commandWithConfig(command, "--output=json");
        check("badConfig", 1, bad);
        assertEquals("", bad.stderr());
      }
      check("badConfig", 1, node.commandWithConfig("explain", "--output=json", "8.8.8.8"));
      check("statusOutput", 1, node.commandWithConfig("status", "--output=json"));
      check(
          "unknownStatus",
          1,
          node.shell(
              "setpriv --bounding-set=-net_admin --inh-caps=-net_admin "
                  + AgentProcess.builtAgent()
                  + " status --output=json"));
      node.volume().write(GOOD);
      node.fakePrograms().set("iptables-restore", new Behaviour.Fail(4, "a refusal"));
      check("planOutput", 1, node.commandWithConfig("apply", "--output=json"));
    }
  }

  @Test
  void ofTheListenerAndTheLog() throws Exception {
    try (Node node = Node.open()) {
      node.volume().publish(GOOD);
      AgentProcess agent =
          node.start(
              "--log-format=json",
              "--v=2",
              "--listen=127.0.0.1:10347",
              "--backend=nftables",
              "--stderrthreshold=0",
              "--cleanup-on-exit");
      agent.awaitLine(line -> line.contains("\"event\":\"listening\""));
      node.volume().publish(BAD);
      agent.awaitLine(line -> line.contains("\"event\":\"config-bad\""));
      check(node, "statusOutput", 200, "/api/status");
      node.volume().publish("nonMasqueradeCIDRs: [10.8.0.0/16]\n");
      agent.awaitLine(line -> line.contains("\"event\":\"config-good\""));
      node.namespace().nft("add", "table", "ip", "mine");
      node.namespace().nft("add chain ip mine post { type nat hook postrouting priority 90; }");
      node.namespace().nft("add rule ip mine post ip daddr 10.8.0.0/16 masquerade");
      agent.awaitLine(line -> line.contains("\"event\":\"conflict\""));
      check(node, "statusOutput", 200, "/api/status");
      check(node, "explainApiOutput", 200, "/api/explain?to=8.8.8.8");
      check(node, "explainApiOutput", 400, "/api/explain?to=x");
      Result status = node.command("status", "--output=json");
      check("statusOutput", 1, status);
      check("error", 1, node.command("apply", "--output=json"));
      agent.terminate();
      assertEquals(0, agent.awaitExit(), agent::toString);
      for (String line : agent.stderr()) {
        OutputSchema.check("logOutput", line);
      }
      for (String event :
          List.of("start", "flag-ignored", "backend", "rules-changed", "rules-removed", "stop")) {
        assertTrue(
            agent.stderr().stream().anyMatch(line -> line.contains("\"event\":\"" + event + "\"")),
            agent::toString);
      }
    }
  }

  private static void check(Node node, String definition, int status, String path)
      throws Exception {
    Fetch.Fetched answer = node.namespace().call(() -> Fetch.get(AGENT, path));
    assertEquals(status, answer.status(), answer::toString);
    OutputSchema.check(definition, answer.body());
  }
}
