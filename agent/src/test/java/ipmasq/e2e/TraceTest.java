package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.config.ParsedJson;
import ipmasq.evidence.trace.TraceTable;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Probe;
import ipmasq.testkit.Result;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code trace} says of rules that nobody can read from outside. */
@KernelTest
@Timeout(180)
class TraceTest {
  private Lab lab;
  private Node node;

  @BeforeEach
  void open() {
    lab = Lab.open();
    node = Node.in(lab.node());
  }

  @AfterEach
  void close() {
    node.close();
    lab.close();
  }

  /** Connections from the pod, again and again, while something waits for them. */
  private Result during(String destination, String... command) {
    return during(List.of(destination), command);
  }

  private Result during(List<String> destinations, String... command) {
    AtomicBoolean over = new AtomicBoolean();
    CompletableFuture<Void> traffic =
        CompletableFuture.runAsync(
            () -> {
              while (!over.get()) {
                destinations.forEach(each -> lab.send(Probe.tcp(each)));
                LockSupport.parkNanos(100_000_000);
              }
            });
    try {
      return node.command(command);
    } finally {
      over.set(true);
      traffic.join();
    }
  }

  private static Map<String, Object> first(Result json) {
    List<?> flows = (List<?>) ParsedJson.map(ParsedJson.of(json.stdout())).get("flows");
    assertTrue(!flows.isEmpty(), json.toString());
    return ParsedJson.map(flows.getFirst());
  }

  private void running(String backend) {
    node.volume().publish("backend: " + backend + "\nnonMasqueradeCIDRs: [10.0.0.0/8]\n");
    node.running();
  }

  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void ourOwnRulesDecide(String backend) {
    running(backend);
    Map<String, Object> flow =
        first(during("203.0.113.5", "trace", "203.0.113.5", "--for=2s", "--output=json"));
    assertEquals("10.244.1.2", flow.get("source"), flow.toString());
    assertEquals("192.0.2.10", flow.get("leftWith"), flow.toString());
    assertEquals("true", "" + flow.get("answered"), flow.toString());
    String by = ParsedJson.map(flow.get("decidedBy")).toString();
    assertTrue(
        backend.equals("iptables") ? by.contains("MASQUERADE") : by.contains("masquerade"),
        flow.toString());
    Map<String, Object> exempt =
        first(during("10.9.9.9", "trace", "10.9.9.9", "--for=2s", "--output=json"));
    assertEquals("10.244.1.2", exempt.get("leftWith"), exempt.toString());
    assertTrue(("" + exempt.get("decidedBy")).contains("return"), exempt.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '!',
      value = {
        "iptables ! -m statistic --mode nth --every 1 --packet 0 ! statistic",
        "iptables ! -m bpf --bytecode \"1,6 0 0 1\" ! bpf",
        "iptables ! -m string --algo bm --hex-string \"|45|\" --to 40 ! string",
        "nftables ! jhash ip saddr mod 1 map { 0 : 192.0.2.10 } ! jhash",
      })
  void anUnreadableMatchIsNamed(String backend, String match, String word) {
    running(backend);
    if (backend.equals("iptables")) {
      node.shell(
              "iptables -w 5 -t nat -I POSTROUTING -d 10.9.9.9 "
                  + match
                  + " -j SNAT --to-source 192.0.2.10")
          .ok();
    } else {
      node.namespace()
          .nft(
              "table ip odd { chain post { type nat hook postrouting priority 90;"
                  + " ip daddr 10.9.9.9 snat to "
                  + match
                  + "; }; }");
    }
    String before = node.namespace().nft("list", "ruleset");
    Result text = during("10.9.9.9", "trace", "10.9.9.9", "--for=2s");
    assertEquals(0, text.exit(), text.toString());
    String decided =
        text.stdout().lines().filter(l -> l.contains("decided by")).findFirst().orElse("");
    assertTrue(decided.contains(word), text.toString());
    assertTrue(text.stdout().contains("left as 192.0.2.10, and was answered"), text.toString());
    assertEquals(counted(before), counted(node.namespace().nft("list", "ruleset")));
  }

  private static String counted(String ruleset) {
    return ruleset.replaceAll("packets \\d+ bytes \\d+", "");
  }

  @Test
  void killedHalfWayNothingIsLeft() {
    running("nftables");
    String before = node.namespace().nft("list", "ruleset");
    AgentProcess one = AgentProcess.start(node.namespace(), "trace", "203.0.113.5", "--for=5m");
    AgentProcess two = AgentProcess.start(node.namespace(), "trace", "10.9.9.9", "--for=5m");
    Eventually.within(
        Node.PATIENCE,
        "two tables",
        () -> node.namespace().nft("list", "tables"),
        tables -> tables.split(TraceTable.PREFIX, -1).length == 3);
    one.kill();
    two.kill();
    Eventually.eventually(
        "the ruleset as it was",
        () -> counted(node.namespace().nft("list", "ruleset")),
        counted(before)::equals);
  }

  /** Each tells only of the flows that it was asked for, although the kernel tells both of all. */
  @Test
  void twoAtOnce() {
    running("nftables");
    AgentProcess other =
        AgentProcess.start(
            node.namespace(), "trace", "10.9.9.9", "--for=10s", "--output=json", "--port=7777");
    Eventually.within(
        Node.PATIENCE,
        "its table",
        () -> node.namespace().nft("list", "tables"),
        tables -> tables.contains(TraceTable.PREFIX));
    List<String> both = List.of("203.0.113.5", "10.9.9.9");
    Result json = during(both, "trace", "203.0.113.5", "--for=2s", "--output=json");
    List<?> flows = (List<?>) ParsedJson.map(ParsedJson.of(json.stdout())).get("flows");
    assertTrue(flows.size() > 1, json.toString());
    for (Object each : flows) {
      Map<String, Object> flow = ParsedJson.map(each);
      assertEquals("203.0.113.5", flow.get("destination"), json.toString());
      assertEquals("192.0.2.10", flow.get("leftWith"), json.toString());
      assertTrue(("" + flow.get("decidedBy")).contains("masquerade"), json.toString());
    }
    assertEquals(0, other.awaitExit());
    assertFalse(other.stdout().toString().contains("203.0.113.5"), other.toString());
  }

  @Test
  void whatIsDroppedNamesTheRule() {
    running("nftables");
    node.namespace()
        .nft(
            "table inet wall { chain forward { type filter hook forward priority 0;"
                + " ip daddr 10.9.9.9 drop; }; }");
    Result text = during("10.9.9.9", "trace", "10.9.9.9", "--for=3s");
    assertTrue(text.stdout().contains("did not leave, or nothing tracked it"), text.toString());
    assertTrue(text.stdout().contains("decided by inet wall forward handle"), text.toString());
  }

  @Test
  void nothingCame() {
    running("nftables");
    Result result = node.command("trace", "198.51.100.99", "--for=1s");
    assertEquals(1, result.exit(), result.toString());
    assertTrue(
        result.stdout().contains("nothing came through netfilter within 1 s"), result.toString());
  }

  @Test
  void onANodeWithLegacyTablesOnlyTheOutcomeIsKnown() {
    node.shell("iptables-legacy -t nat -A POSTROUTING -d 203.0.113.0/24 -j MASQUERADE").ok();
    Result result = during("203.0.113.5", "trace", "203.0.113.5", "--for=2s");
    assertTrue(result.stdout().contains("left as 192.0.2.10, and was answered"), "" + result);
    assertTrue(result.stdout().contains("Only the outcome is known"), "" + result);
  }
}
