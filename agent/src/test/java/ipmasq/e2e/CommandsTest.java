package ipmasq.e2e;

import static ipmasq.e2e.Expected.DEFAULTS;
import static ipmasq.e2e.Expected.LINK_LOCAL;
import static ipmasq.e2e.Expected.rules;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.config.ParsedJson;
import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Result;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands beside {@code run}: what they print, where, and with which exit code. */
@KernelTest
@Execution(ExecutionMode.CONCURRENT)
class CommandsTest {
  private static final String GOOD = "nonMasqueradeCIDRs: [10.9.0.0/16]\n";
  private static final String BAD = "nonMasqueradeCIDRs:\n  - 10.9.0.1/16\n  - abc\n";

  @Test
  void checkTellsGoodFilesFromBadOnes() {
    try (Node node = Node.open()) {
      String file = node.volume().file().toString();
      node.volume().write(GOOD);
      Result good = node.command("check", file);
      assertEquals(0, good.exit(), good.toString());
      assertTrue(good.stdout().startsWith(file + ": good: "), good.toString());
      assertEquals("", good.stderr());
      node.volume().write(BAD);
      Result bad = node.command("check", file);
      assertEquals(1, bad.exit(), bad.toString());
      assertEquals("", bad.stdout());
      List<String> lines = bad.stderr().lines().toList();
      assertEquals(2, lines.size(), bad.toString());
      assertTrue(
          lines.get(0).startsWith(file + ":2:5: error: CIDR \"10.9.0.1/16\" is not aligned"));
      assertTrue(lines.get(1).startsWith(file + ":3:5: error: CIDR \"abc\" could not be parsed"));
      assertTrue(node.untouched());
    }
  }

  /** Files that do not fit into the memory, and those that cannot be configs. */
  @Test
  void whatIsTooLargeIsABadFile() {
    try (Node node = Node.open()) {
      String agent = AgentProcess.builtAgent().toString();
      String huge = "head -c 300000000 /dev/zero | " + agent;
      String large = "yes '  - 10.0.0.0/8' | head -c 60000000 | " + agent;
      for (String command : List.of(" check -", " plan --config -", " config --config -")) {
        for (String input : List.of(huge, large)) {
          Result result = node.shell(input + command);
          assertEquals(1, result.exit(), result.toString());
          assertTrue(result.stderr().startsWith("-: error: "), result.toString());
          assertEquals(1, result.stderr().lines().count(), result.toString());
        }
      }
      Result file = node.shell("head -c 300000000 /dev/zero > " + node.volume().file());
      assertEquals(0, file.exit(), file.toString());
      Result checked = node.command("check", node.volume().file().toString());
      assertTrue(
          checked
              .stderr()
              .contains("too large for the agent: the file is 300.0 MB, and at most 5."),
          checked.toString());
    }
  }

  @Test
  void checkWarnsAndStillSaysGood() {
    try (Node node = Node.open()) {
      node.volume().write("nonMasqueradeCIDR: [10.9.0.0/16]\n");
      Result result = node.command("check", node.volume().file().toString());
      assertEquals(0, result.exit());
      assertTrue(result.stderr().contains(":1:1: warning: unknown key"), result.toString());
      assertTrue(result.stderr().contains("did you mean nonMasqueradeCIDRs?"), result.toString());
    }
  }

  @Test
  void checkNeedsAFileThatIsThere() {
    try (Node node = Node.open()) {
      Result missing = node.command("check", node.volume().file().toString());
      assertEquals(1, missing.exit());
      assertTrue(missing.stderr().contains("no such file"), missing.toString());
      assertEquals(64, node.command("check").exit());
    }
  }

  @Test
  void checkSpeaksJson() {
    try (Node node = Node.open()) {
      String file = node.volume().file().toString();
      node.volume().write(BAD);
      Result result = node.command("check", "--output=json", file);
      assertEquals(1, result.exit());
      assertEquals("", result.stderr());
      Map<String, @Nullable Object> answer = json(result).getFirst();
      assertEquals("false", answer.get("good"));
      Map<String, @Nullable Object> problem = ParsedJson.maps(answer.get("problems")).getFirst();
      assertEquals(
          List.of("error", file, "2", "5"),
          List.of(
              problem.get("severity"),
              problem.get("file"),
              problem.get("line"),
              problem.get("column")));
    }
  }

  private static List<Map<String, @Nullable Object>> json(Result result) {
    return ParsedJson.maps(ParsedJson.of(result.stdout()));
  }

  @Test
  void planShowsWhatApplyWouldDo() {
    try (Node node = Node.open()) {
      node.volume().write(GOOD);
      Result plan = node.commandWithConfig("plan");
      assertEquals(2, plan.exit(), plan.toString());
      assertEquals(
          """
          IPv4 (iptables-nft)
          +169.254.0.0/16
          +10.9.0.0/16
          +masquerade random-fully

          3 to add, 0 to remove, 0 to repair (iptables-nft)
          """,
          plan.stdout());
      assertEquals(List.of(), node.rules(Family.IPV4));
      Result apply = node.commandWithConfig("apply");
      assertEquals(0, apply.exit(), apply.toString());
      assertEquals(
          plan.stdout().replaceAll(" to (add|remove|repair)", " $1ed").replace("eed", "ed"),
          apply.stdout());
      assertEquals(rules(LINK_LOCAL, "10.9.0.0/16"), node.rules(Family.IPV4));
      Result nothing = node.commandWithConfig("plan");
      assertEquals(0, nothing.exit(), nothing.toString());
      assertEquals("nothing to change (iptables-nft)\n", nothing.stdout());
      node.iptables(Family.IPV4, "-D POSTROUTING 1");
      Result flawed = node.command("plan", "--output=json");
      assertEquals(2, flawed.exit(), flawed.toString());
      List<Map<String, @Nullable Object>> changes =
          ParsedJson.maps(ParsedJson.map(ParsedJson.of(flawed.stdout())).get("changes"));
      assertEquals(
          Map.of(
              "family", "IPv4",
              "change", "repair",
              "what", "the jump from POSTROUTING is missing",
              "backend", "iptables-nft"),
          changes.getFirst());
    }
  }

  @Test
  void aPlanOfABadConfigIsJsonToo() {
    try (Node node = Node.open()) {
      node.volume().write("nonMasqueradeCIDRs: [10.9.0.1/16]\nmasqlinklocal: true\n");
      Result result = node.commandWithConfig("plan", "--output=json");
      assertEquals(1, result.exit(), result.toString());
      assertEquals(
          """
          {"good":false,"problems":[\
          {"severity":"error","file":"FILE","line":1,"column":22,\
          "message":"CIDR \\"10.9.0.1/16\\" is not aligned to a CIDR block, ip: \\"10.9.0.1\\"\
           network: \\"10.9.0.0/16\\"","hint":"write \\"10.9.0.0/16\\", or\
           \\"10.9.0.1/32\\" for one address"},\
          {"severity":"warning","file":"FILE","line":2,"column":1,\
          "message":"key \\"masqlinklocal\\" is taken for masqLinkLocal",\
          "hint":"write \\"masqLinkLocal\\""}]}
          """,
          result.stdout().replace(node.volume().file().toString(), "FILE"));
      assertEquals("", result.stderr());
    }
  }

  @Test
  void aForeignRuleInOurChainIsOneLineOfAPlan() {
    try (Node node = Node.open()) {
      node.command("apply").ok();
      node.iptables(Family.IPV4, "-I IP-MASQ-AGENT 2 -p tcp -j ACCEPT");
      Result plan = node.command("plan");
      assertEquals(2, plan.exit(), plan.toString());
      assertEquals(
          """
          IPv4 (iptables-nft)
          ~a rule that is not ours: -A IP-MASQ-AGENT -p tcp -j ACCEPT

          0 to add, 0 to remove, 1 to repair (iptables-nft)
          """,
          plan.stdout());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"plan", "apply"})
  void aBadFileIsNeitherPlannedNorApplied(String command) {
    try (Node node = Node.open()) {
      node.volume().write(BAD);
      Result result = node.commandWithConfig(command);
      assertEquals(1, result.exit());
      assertTrue(result.stderr().startsWith(node.volume().file() + ":2:5: error: "));
      assertTrue(node.untouched());
    }
  }

  @Test
  void applySaysWhatItDidAsJsonToo() {
    try (Node node = Node.open()) {
      Result result = node.command("apply", "--enable-ipv6", "--output", "json");
      assertEquals(0, result.exit());
      Map<String, @Nullable Object> answer = ParsedJson.map(ParsedJson.of(result.stdout()));
      assertEquals("iptables-nft", answer.get("backend"));
      assertEquals(List.of(), answer.get("failures"));
      assertEquals(7, ParsedJson.maps(answer.get("changes")).size());
      assertEquals(DEFAULTS, node.rules(Family.IPV4));
    }
  }

  @Test
  void applyFailsWhereItCannotWrite() {
    try (Node node = Node.open()) {
      node.fakePrograms().removeAll();
      Result result = node.command("apply", "--backend=iptables");
      assertEquals(1, result.exit());
      assertTrue(result.stderr().contains("iptables-save was not found on PATH"), "" + result);
    }
  }

  /** Packets of the node leave by it. */
  private static void addUplink(Node node) {
    node.namespace()
        .ip(
            "link add uplink type veth peer name far",
            "link set uplink up",
            "link set far up",
            "address add 198.51.100.20/24 dev uplink",
            "route add default via 198.51.100.1");
  }

  @Test
  void explainReadsTheKernelOrTheFile() {
    try (Node node = Node.open()) {
      addUplink(node);
      node.volume().write(GOOD);
      Result untouched = node.command("explain", "8.8.8.8");
      assertEquals(0, untouched.exit());
      assertTrue(untouched.stdout().contains("this agent has no rules"), untouched.toString());
      node.command("apply").ok();
      assertEquals(
          """
          PACKET     CONFIG      OUTCOME                      DECIDED BY
          10.1.2.3   keep        keeps its source             ip-masq-agent
          8.8.8.8    masquerade  translated to 198.51.100.20  ip-masq-agent
          127.0.0.1  -           keeps its source             -
          """,
          node.command("explain", "10.1.2.3", "8.8.8.8", "127.0.0.1").ok());
      assertEquals(
          """
          A packet to 8.8.8.8 gets another source address, 198.51.100.20.

          Config:     is masqueraded (no exempt range contains it)
          Rules:      no exempt range contains it
          Decided by: ip-masq-agent: iptables-nft POSTROUTING: masquerade random-fully
          """,
          node.command("explain", "8.8.8.8").ok());
      Result file = node.commandWithConfig("explain", "10.1.2.3", "10.9.0.1", "--output=json");
      assertEquals("translated", json(file).get(0).get("wanted"));
      assertNull(json(file).get(0).get("actual"));
      assertNull(json(file).get(0).get("range"));
      assertEquals("kept", json(file).get(1).get("wanted"));
      assertEquals("10.9.0.0/16", json(file).get(1).get("range"));
    }
  }

  @Test
  void explainTakesAPacketForOursUnlessToldWhereItComesFrom() {
    try (Node node = Node.open()) {
      node.volume().write("sourceCIDRs: [10.244.0.0/16]\noutputInterface: eth+\n");
      assertEquals(
          """
          PACKET    CONFIG      WHY
          8.8.8.8   masquerade  no exempt range contains it; \
          for packets from 10.244.0.0/16; out of eth+
          10.1.2.3  keep        10.0.0.0/8 is not masqueraded; \
          for packets from 10.244.0.0/16; out of eth+
          """,
          node.commandWithConfig("explain", "8.8.8.8", "10.1.2.3").ok());
      Result other = node.commandWithConfig("explain", "8.8.8.8", "--from=192.0.2.10");
      assertTrue(other.ok().contains("its source is in none of sourceCIDRs"), other.toString());
      Result elsewhere = node.commandWithConfig("explain", "8.8.8.8", "--via", "lo");
      assertTrue(elsewhere.ok().contains("leaves by none of outputInterface"), "" + elsewhere);
      Result pod = node.commandWithConfig("explain", "8.8.8.8", "--from=10.244.1.2", "--via=eth1");
      assertTrue(pod.ok().contains("gets another source address"), pod.toString());
    }
  }

  @Test
  void explainSaysWhatIsPinned() {
    try (Node node = Node.open()) {
      addUplink(node);
      node.volume().write("backend: nftables\npin: true\nsourceCIDRs: [10.244.0.0/16]\n");
      node.commandWithConfig("apply").ok();
      String explained = node.command("explain", "10.1.2.3").ok();
      assertTrue(
          explained.contains(
              "10.0.0.0/8 is not masqueraded, and pinned: no later chain masquerades it; for packets"),
          explained);
      Result pod = node.command("explain", "10.1.2.3", "--from=10.244.1.2", "--output=json");
      assertEquals("true", json(pod).get(0).get("pinned"));
      Result file = node.commandWithConfig("explain", "10.1.2.3", "8.8.8.8", "--output=json");
      assertEquals("true", json(file).get(0).get("pinned"));
      assertEquals("false", json(file).get(1).get("pinned"));
      Result other = node.command("explain", "10.1.2.3", "--from=192.0.2.10", "--output=json");
      assertEquals("false", json(other).get(0).get("pinned"));
    }
  }

  @Test
  void cleanupRemovesAllThatIsOurs() {
    String foreign = "-A POSTROUTING -s 10.1.0.0/16 -j ACCEPT";
    try (Node node = Node.open()) {
      node.restore(Family.IPV4, "*nat\n" + foreign + "\nCOMMIT\n");
      node.command("apply", "--enable-ipv6").ok();
      Result cleanup = node.command("cleanup");
      assertEquals(0, cleanup.exit(), cleanup.toString());
      assertEquals(List.of(foreign), node.rules(Family.IPV4));
      assertEquals(List.of(), node.rules(Family.IPV6));
      assertEquals("nothing to remove\n", node.command("cleanup").ok());
      Result json = node.command("cleanup", "--output=json");
      assertEquals(List.of(), ParsedJson.map(ParsedJson.of(json.ok())).get("changes"));
    }
  }

  @Test
  void aCleanupMayOnlySayWhatItWouldRemove() {
    try (Node node = Node.open()) {
      assertEquals("nothing to remove\n", node.command("cleanup", "--dry-run").ok());
      node.command("apply").ok();
      List<String> before = node.rules(Family.IPV4);
      Result dry = node.command("cleanup", "--dry-run");
      assertEquals(2, dry.exit(), dry.toString());
      assertTrue(dry.stdout().startsWith("IPv4 (iptables-nft)\n-169.254.0.0/16\n"), dry.toString());
      assertTrue(dry.stdout().endsWith("\n0 to add, 5 to remove, 0 to repair\n"), dry.toString());
      assertEquals(before, node.rules(Family.IPV4));
      Result refused = node.command("apply", "--dry-run");
      assertEquals(64, refused.exit(), refused.toString());
      assertTrue(refused.stderr().contains("plan shows what apply would change"), "" + refused);
    }
  }

  /** For the pods of a DaemonSet that is being removed: a probe sees when it is done. */
  @Test
  void aCleanupThatHoldsStaysUntilItIsStopped() {
    try (Node node = Node.open()) {
      node.command("apply", "--enable-ipv6").ok();
      try (AgentProcess cleaner = AgentProcess.start(node.namespace(), "cleanup", "--hold")) {
        cleaner.awaitLine(line -> line.equals("waiting for SIGTERM"));
        assertEquals(List.of(), node.rules(Family.IPV6));
        assertEquals(0, node.command("cleanup", "--dry-run").exit());
        assertTrue(cleaner.running());
        cleaner.terminate();
        assertEquals(0, cleaner.awaitExit());
      }
    }
  }

  /** As a plugin does it for a file that nobody has applied yet. */
  @Test
  void aFileIsCheckedAndPlannedAsTheRunningAgentWouldReadIt() {
    try (Node node = Node.open()) {
      node.running("--enable-ipv6", "--backend=nftables", "--masq-chain=MINE");
      String agent = AgentProcess.builtAgent().toString();
      String ipv6 = "echo 'nonMasqueradeCIDRs: [10.9.0.0/16, fd00::/8]' | " + agent;
      Result check = node.shell(ipv6 + " check --strict -");
      assertEquals(0, check.exit(), check.toString());
      assertTrue(
          check.stderr().startsWith("with the flags of the agent that runs here"), "" + check);
      Result plan = node.shell(ipv6 + " plan --config -");
      assertEquals(2, plan.exit(), plan.toString());
      assertTrue(plan.stdout().contains("IPv6 (nftables)\n"), plan.toString());
      assertTrue(plan.stdout().contains("+10.9.0.0/16\n"), plan.toString());
      // Beyond the limit of iptables, which this agent does not use.
      String many = "{ echo nonMasqueradeCIDRs:; seq -f '  - 10.%g.0.0/16' 1 100; } | " + agent;
      assertEquals(0, node.shell(many + " check -").exit());
      Result bad = node.shell("echo 'pin: maybe' | " + agent + " plan --config -");
      assertEquals(1, bad.exit(), bad.toString());
      assertTrue(bad.stderr().contains("-:1:6: error: "), bad.toString());
    }
  }

  @Test
  void versionAndHelpArePrinted() {
    try (Node node = Node.open()) {
      assertTrue(node.command("version").ok().startsWith("ip-masq-agent "));
      assertEquals(node.command("version").ok(), node.command("--version").ok());
      assertTrue(node.command("version", "-o", "json").ok().startsWith("{\"version\":\""));
      assertTrue(node.command("--help").ok().startsWith("Keeps a node's masquerading rules"));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--no-such-flag",
        "nonsense",
        "run extra",
        "plan extra",
        "explain",
        "explain example.com",
        "explain 10.0.0.0/8",
        "explain 8.8.8.8 --from=here",
        "explain 8.8.8.8 --from=fd00::1",
        "explain 8.8.8.8 --via=eth99",
        "plan --output=xml",
        "--resync-interval=0",
        "--enable-ipv6=perhaps",
        "--config=",
        "check"
      })
  void wrongUsageExitsWith64AndOneLine(String words) {
    try (Node node = Node.open()) {
      Result result = node.command(words.split(" "));
      assertEquals(64, result.exit(), result.toString());
      assertEquals("", result.stdout());
      assertEquals(1, result.stderr().lines().count(), result.toString());
      assertTrue(result.stderr().startsWith("ip-masq-agent: "), result.toString());
      assertTrue(node.untouched());
    }
  }
}
