package ipmasq.e2e;

import static ipmasq.e2e.Expected.DEFAULTS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.http.Fetch;
import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Result;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands beside an agent that runs, and an agent that only looks beside another. */
@KernelTest
class BesideAnAgentTest {
  @Test
  void commandsThatSayNothingMeanItsConfigBackendAndChain() {
    try (Node node = Node.open()) {
      node.volume().publish("nonMasqueradeCIDRs: [10.9.0.0/16]");
      node.running("--masq-chain=MINE", "--enable-ipv6");
      Result plan = node.command("plan");
      assertEquals("nothing to change (iptables-nft)\n", plan.ok());
      assertTrue(plan.stderr().contains("with the flags of the agent that runs here"));
      Result other = node.command("plan", "--masq-chain=OTHER");
      assertEquals(2, other.exit(), other.toString());
    }
  }

  @Test
  void aMissingFileIsNoMoreThanAWarningWhereTheAgentTakesItForOne() {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running();
      agent.awaitLine(line -> line.contains(": there is no such file"));
      Result status = node.command("status");
      assertTrue(status.stdout().startsWith("IPv4 masquerading is in force"), status.toString());
      assertTrue(status.stdout().contains(": there is no such file"), status.toString());
      Result named = node.command("status", "--config=/elsewhere/my-config");
      assertTrue(named.stdout().contains("the config file is bad"), named.toString());
    }
  }

  /** As by {@code kubectl debug node}, or in the network namespace of a pod. */
  @Test
  void aMissingFileIsNoMoreThanAWarningSeenFromElsewhere() {
    try (Node node = Node.open()) {
      Node.awaitFirstPass(node.startBy(List.of("unshare", "--mount")));
      Result status = node.command("status");
      assertTrue(status.ok().startsWith("IPv4 masquerading is in force"), status.toString());
      assertEquals("nothing to change (iptables-nft)\n", node.command("plan").ok());
      node.command("config").ok();
    }
  }

  /** Only the agent knows what was before, and without --listen it cannot be asked. */
  @Test
  void ofABadFileNoHistoryIsInvented() {
    try (Node node = Node.open()) {
      node.volume().publish("nonMasqueradeCIDRs: [10.9.0.0/16]");
      AgentProcess agent = node.running();
      node.volume().publish("nonMasqueradeCIDRs: [10.9.0.1/16]");
      agent.awaitLine(line -> line.contains("the last good one stays in force"));
      Result status = node.command("status");
      assertEquals(1, status.exit(), status.toString());
      assertTrue(
          status.stdout().startsWith("Not ready: the config file is bad.\n"), status.toString());
      assertTrue(
          status.stdout().contains("\nConfig   not known: the file is bad\n"), status.toString());
    }
  }

  @Test
  void anAgentThatASignalStoppedKeepsNothing() {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running();
      assertEquals(0, node.command("status").exit());
      node.namespace().run("kill", "-STOP", String.valueOf(agent.pid())).ok();
      Result status = node.command("status");
      assertEquals(1, status.exit(), status.toString());
      assertTrue(
          status
              .stdout()
              .contains(" does not answer (a signal stopped it), so perhaps nothing repairs"),
          status.toString());
      node.namespace().run("kill", "-CONT", String.valueOf(agent.pid())).ok();
      assertEquals(0, node.command("status").exit());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void whatADeadAgentLeftIsFoundWhereverItIs(String backend) {
    try (Node node = Node.open()) {
      node.volume().publish("nonMasqueradeCIDRs: [10.9.0.0/16]");
      AgentProcess agent = node.running("--backend=" + backend);
      assertEquals(0, node.commandWithConfig("status").exit());
      agent.kill();
      agent.awaitExit();
      Result status = node.commandWithConfig("status");
      assertEquals(1, status.exit(), status.toString());
      assertEquals(
          "No agent runs here. The rules are what "
              + node.volume().file()
              + " asks for, but nothing keeps them that way.",
          status.stdout().lines().findFirst().orElseThrow());
      assertTrue(status.stdout().contains("\nBackend  " + backend), status.toString());
    }
  }

  /** The JVM's own begin with capitals, but for the first and the one that waits for children. */
  @Test
  void itsThreadsAreThoseOfTheDocumentation() throws IOException {
    Path page = Path.of(System.getProperty("ipmasq.project"), "docs/architecture.md");
    String table = Files.readString(page).replaceAll("(?s).*## Threads(.*?)\n## .*", "$1");
    Set<String> documented = new TreeSet<>();
    Pattern.compile("`([a-z0-9-]+)`(?=[^|\n]*\\|[^|\n]*\\|\n)")
        .matcher(table)
        .results()
        .forEach(name -> documented.add(name.group(1).replace("main", "java")));
    try (Node node = Node.open()) {
      AgentProcess agent = node.running("--listen=127.0.0.1:0");
      agent.awaitLine(line -> line.contains("listening on"));
      node.command("status").ok();
      Set<String> seen = new TreeSet<>();
      try (Stream<Path> tasks = Files.list(Path.of("/proc/" + agent.pid() + "/task"))) {
        for (Path task : tasks.toList()) {
          String name = Files.readString(task.resolve("comm")).strip();
          if (Character.isLowerCase(name.charAt(0)) && !name.equals("process reaper")) {
            seen.add(name.replaceFirst("^http-\\d+$", "http-1"));
          }
        }
      }
      assertTrue(documented.containsAll(seen), "" + seen);
      documented.removeAll(Set.of("iptables-input", "stop")); // they come and go
      assertTrue(seen.containsAll(documented), "" + seen);
    }
  }

  /** Only what happens is said to happen: with no rules, in a dry run, behind an ACCEPT. */
  @Test
  void theTableSaysWhoseWordsItIs() {
    try (Node node = Node.open()) {
      Result none = node.command("status");
      assertTrue(
          none.stdout().startsWith("No agent runs here. There are no IPv4 rules"), "" + none);
      assertTable("THE CONFIG SAYS", none);
      AgentProcess dry = node.start("--dry-run");
      dry.awaitLine(line -> line.contains("IPv4 rules would change"));
      Result dryRun = node.command("status");
      assertTrue(dryRun.stdout().startsWith("Dry run: the rules are not what "), "" + dryRun);
      assertTable("THE CONFIG SAYS", dryRun);
      dry.terminate();
      dry.awaitExit();
      AgentProcess agent = node.running();
      assertTable("WHAT HAPPENS", node.command("status"));
      agent.kill();
      agent.awaitExit();
      node.volume().publish("nonMasqueradeCIDRs: [10.9.0.0/16]");
      Result other = node.commandWithConfig("status");
      assertTrue(other.stdout().contains("The IPv4 rules in the kernel are not what "), "" + other);
      assertTable("OUR RULES SAY", other);
      node.iptables(Family.IPV4, "-I POSTROUTING 1 -s 10.244.0.0/16 -j ACCEPT");
      Result shielded = node.command("status");
      assertTrue(
          shielded
              .stdout()
              .startsWith(
                  "No agent runs here. The rules are what the built-in default asks for, but a rule"),
          shielded.toString());
      assertTable("OUR RULES SAY", shielded);
    }
  }

  private static void assertTable(String heading, Result status) {
    assertTrue(status.stdout().contains("\n  DESTINATION      " + heading), status::toString);
  }

  @Test
  void applyRefusesBeforeItWritesAndCleanupWarns() {
    try (Node node = Node.open()) {
      node.running();
      Result apply = node.command("apply", "--masq-chain=OTHER");
      assertEquals(1, apply.exit());
      assertTrue(apply.stderr().contains("an agent runs here (process "), apply.stderr());
      assertEquals(DEFAULTS, node.rules(Family.IPV4));
      Result cleanup = node.command("cleanup");
      assertTrue(cleanup.stderr().contains("will put its rules back"), cleanup.stderr());
      node.awaitRules(Family.IPV4, DEFAULTS);
    }
  }

  @Test
  void aDryRunWritesNothingAndSaysWhatWouldChange() throws Exception {
    try (Node node = Node.open()) {
      node.command("apply").ok();
      List<String> before = node.rules(Family.IPV4);
      node.volume().publish("nonMasqueradeCIDRs: [10.0.0.0/8, 10.9.0.0/16]");
      AgentProcess agent = node.start("--dry-run", "--listen=127.0.0.1:10399");
      agent.awaitLine(
          line ->
              line.contains("IPv4 rules would change (start): ")
                  && line.contains("-172.16.0.0/12")
                  && line.contains("+10.9.0.0/16"));
      assertEquals(before, node.rules(Family.IPV4));
      agent.awaitLine(line -> line.contains("listening on"));
      Result status = node.command("status", "--listen=127.0.0.1:10399");
      assertTrue(status.stdout().startsWith("Dry run: the rules are not what "), status.toString());
      assertTrue(
          node.namespace()
              .call(() -> Fetch.get(new InetSocketAddress("127.0.0.1", 10399), "/metrics"))
              .body()
              .contains("\nip_masq_agent_rules_pending 1\n"));
      assertEquals(before, node.rules(Family.IPV4));
      agent.terminate();
      assertEquals(0, agent.awaitExit());
      assertEquals(before, node.rules(Family.IPV4));
    }
  }
}
