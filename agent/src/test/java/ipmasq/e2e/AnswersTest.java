package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.config.ParsedJson;
import ipmasq.http.Fetch;
import ipmasq.net.Family;
import ipmasq.output.OutputSchema;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.FakePrograms;
import ipmasq.testkit.FakePrograms.Behaviour;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Result;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What commands and the listener say about the agent that runs, or does not. */
@KernelTest
@Execution(ExecutionMode.CONCURRENT)
class AnswersTest {
  private static final String LISTEN = "--listen=127.0.0.1:10347";
  private static final InetSocketAddress AGENT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 10347);

  private static String first(Result status) {
    return status.stdout().lines().findFirst().orElse("");
  }

  private static Map<String, @Nullable Object> json(Node node) {
    String text = node.command("status", "--output=json").stdout();
    OutputSchema.check("statusOutput", text);
    return ParsedJson.map(ParsedJson.of(text));
  }

  @Test
  void aProbeReadsTheSentenceThatStatusPrints() throws Exception {
    try (Node node = Node.open()) {
      node.volume().publish("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
      node.iptables(Family.IPV4, "-A POSTROUTING -s 10.244.0.0/16 -j MASQUERADE");
      AgentProcess agent = node.running(LISTEN);
      agent.awaitLine(line -> line.contains("WARN") && line.contains("that the config exempts"));
      String status = first(node.command("status"));
      assertTrue(status.contains(", but "), status);
      Fetch.Fetched ready = node.namespace().call(() -> Fetch.get(AGENT, "/readyz"));
      assertEquals("ready\n" + status + "\n", ready.body());
      assertEquals(200, ready.status());
    }
  }

  /** A chain was flushed, and the iptables that would show it hangs. */
  @Test
  void aSyncThatHangsIsNotCalledInForce() throws Exception {
    try (Node node = Node.open()) {
      FakePrograms programs = node.fakePrograms();
      node.environment("JDK_JAVA_OPTIONS", "-Dipmasq.iptables.deadline=11");
      node.volume().publish("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
      node.running(LISTEN);
      programs.set("iptables", new Behaviour.Hang());
      programs.set("iptables-save", new Behaviour.Hang());
      node.namespace().run("iptables", "-t", "nat", "-F", "IP-MASQ-AGENT").ok();
      Fetch.Fetched unknown =
          Eventually.eventually(
              "unknown",
              () -> node.namespace().call(() -> Fetch.get(AGENT, "/readyz")),
              answer -> answer.body().contains("Not known since "));
      assertEquals(200, unknown.status());
      assertTrue(unknown.body().strip().endsWith(": waiting for iptables."), unknown.body());
      Eventually.eventually(
          "not ready",
          () -> node.namespace().call(() -> Fetch.get(AGENT, "/readyz")),
          answer -> answer.status() == 503);
    }
  }

  @Test
  void explainKnowsTheChainThatOnlyTheFileNames() {
    try (Node node = Node.open()) {
      node.volume().publish("masqChain: MY-MASQ\nnonMasqueradeCIDRs: [10.0.0.0/8]\n");
      node.running();
      String explained = node.command("explain", "10.9.9.9", "--output=json").ok();
      assertTrue(explained.contains("\"wanted\":\"kept\""), explained);
      assertTrue(explained.contains("\"owner\":\"ip-masq-agent\""), explained);
    }
  }

  @Test
  void anAgentThatDoesNotAnswerIsNotSaidToKeepTheRules() {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running(LISTEN);
      agent.awaitLine(line -> line.contains("listening on"));
      node.namespace().run("kill", "-STOP", String.valueOf(agent.pid())).ok();
      Result status = node.command("status");
      assertEquals(1, status.exit(), status.toString());
      assertTrue(
          first(status)
              .startsWith(
                  "The agent (process "
                      + agent.pid()
                      + ") does not answer (a signal stopped it), so perhaps nothing repairs the"
                      + " rules. The rules are what "),
          status.toString());
      node.iptables(Family.IPV4, "-F IP-MASQ-AGENT");
      Map<String, @Nullable Object> json = json(node);
      assertEquals("false", json.get("ok"));
      assertEquals("bad", json.get("level"));
      assertEquals("true", json.get("running"));
      assertTrue(
          String.valueOf(json.get("summary"))
              .contains("The IPv4 rules in the kernel are not what "),
          json.toString());
    }
  }

  @Test
  void anAgentThatCannotListenIsOneThatDoesNotAnswer() throws Exception {
    try (Node node = Node.open();
        ServerSocket taken =
            node.namespace()
                .call(() -> new ServerSocket(10347, 1, InetAddress.getLoopbackAddress()))) {
      AgentProcess agent = node.running(LISTEN);
      agent.awaitLine(line -> line.contains("cannot listen on"));
      Result status = node.command("status");
      assertEquals(1, status.exit(), status.toString());
      assertTrue(
          first(status).startsWith("The agent (process " + agent.pid() + ") does not answer ("),
          status + " beside " + taken);
    }
  }

  @Test
  void aDryRunKeepsNothing() {
    try (Node node = Node.open()) {
      node.volume().publish("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
      node.commandWithConfig("apply").ok();
      String sentence =
          "Dry run: the rules are what "
              + node.volume().file()
              + " asks for; this agent writes nothing.";
      AgentProcess mute = node.start("--dry-run", "--v=2");
      Node.awaitFirstPass(mute);
      Result local = node.command("status");
      assertEquals(sentence, first(local));
      assertEquals(1, local.exit(), local.toString());
      mute.terminate();
      mute.awaitExit();
      node.start("--dry-run", LISTEN).awaitLine(line -> line.contains("listening on"));
      Result asked = node.command("status");
      assertEquals(sentence, first(asked));
      assertEquals(1, asked.exit(), asked.toString());
      assertEquals("warn", json(node).get("level"));
    }
  }

  /** A single look knows nothing of the past. */
  @Test
  void withoutAnAgentThereIsNoHistory() {
    try (Node node = Node.open()) {
      node.command("apply").ok();
      String text = node.command("status").stdout();
      assertFalse(text.contains("\nAgent "), text);
      assertFalse(text.contains("since"), text);
      Map<String, @Nullable Object> json = json(node);
      assertNull(json.get("started"));
      assertNull(json.get("totals"));
      assertEquals(List.of(), json.get("history"));
      assertNull(ParsedJson.map(json.get("lastPass")).get("trigger"));
      assertNull(ParsedJson.map(json.get("lastPass")).get("fighting"));
      assertNull(ParsedJson.map(json.get("config")).get("since"));
      assertNull(ParsedJson.maps(json.get("families")).getFirst().get("since"));
      node.iptables(Family.IPV4, "-F IP-MASQ-AGENT");
      assertEquals(List.of(), json(node).get("history"));
    }
  }
}
