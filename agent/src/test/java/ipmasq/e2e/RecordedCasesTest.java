package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.config.Case;
import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.KernelTest;
import java.nio.file.Files;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every recorded command line and file has the recorded effect on a real kernel. */
@KernelTest
@Execution(ExecutionMode.CONCURRENT)
class RecordedCasesTest {
  /** Flags that leave the default rules as they are. */
  private static final Set<String> NEUTRAL = Set.of("--v=2", "--enable-ipv6");

  static Stream<Case> cases() {
    return Stream.concat(Case.all().stream(), Case.own().stream());
  }

  @ParameterizedTest
  @MethodSource("cases")
  void behavesAsRecorded(Case recorded) throws Exception {
    try (Node node = Node.open()) {
      if (recorded.file().isPresent()) {
        Files.write(node.volume().file(), recorded.file().get());
      }
      AgentProcess agent = node.start(recorded.list("flags").toArray(String[]::new));
      boolean runs = Node.firstPassOrEnd(agent);
      switch (recorded.here()) {
        case "rules" -> {
          assertTrue(runs, agent.toString());
          enforces(recorded, node, agent);
        }
        case "rejects" -> {
          assertTrue(runs, agent.toString());
          rejects(recorded, node, agent);
        }
        case "exits" -> {
          assertFalse(runs, agent.toString());
          exits(recorded, node, agent);
        }
        case "either" -> {
          if (!runs) {
            exits(recorded, node, agent);
          } else if (isBad(node, agent)) {
            rejects(recorded, node, agent);
          } else {
            accepts(recorded, node, agent);
          }
        }
        default -> throw new IllegalStateException(recorded.here());
      }
    }
  }

  private static void enforces(Case recorded, Node node, AgentProcess agent) {
    assertFalse(isBad(node, agent), agent.toString());
    assertRules(recorded.list("rules4"), node, Family.IPV4);
    assertRules(recorded.list("rules6"), node, Family.IPV6);
  }

  /** The file is bad: said with its place, and the defaults are in force. */
  private static void rejects(Case recorded, Node node, AgentProcess agent) {
    assertTrue(isBad(node, agent), agent.toString());
    assertTrue(agent.running(), agent.toString());
    boolean all = recorded.flag("--nomasq-all-reserved-ranges");
    for (String flag : recorded.list("flags")) {
      assertTrue(NEUTRAL.contains(flag) || all, "what are the defaults with " + flag);
    }
    Case reserved = named("a11-nomasq-all-ipv6");
    Case defaults = all ? reserved : named("a01-defaults-no-file");
    assertRules(defaults.list("rules4"), node, Family.IPV4);
    boolean v6 = recorded.flag("--enable-ipv6");
    assertRules(v6 ? reserved.list("rules6") : List.of(), node, Family.IPV6);
  }

  /** One clear line and no rule touched. */
  private static void exits(Case recorded, Node node, AgentProcess agent) {
    boolean asked = recorded.flag("--help") || recorded.flag("--version");
    if (asked) {
      assertEquals(0, agent.awaitExit());
      assertFalse(agent.stdout().isEmpty());
    } else {
      assertNotEquals(0, agent.awaitExit());
      assertEquals(1, agent.stderr().size(), agent.toString());
      assertTrue(agent.stderr().getFirst().startsWith("ip-masq-agent: "), agent.toString());
    }
    assertTrue(node.untouched(), node.namespace().nft("list", "ruleset"));
  }

  /** What upstream takes by accident means what it says there; the rest has no record. */
  private static void accepts(Case recorded, Node node, AgentProcess agent) {
    if (recorded.list("rules4").isEmpty()) {
      List<String> rules = node.rules(Family.IPV4);
      assertTrue(rules.getFirst().endsWith(" -j IP-MASQ-AGENT"), rules.toString());
      assertTrue(rules.getLast().endsWith(" -j MASQUERADE --random-fully"), rules.toString());
    } else {
      enforces(recorded, node, agent);
    }
  }

  private static boolean isBad(Node node, AgentProcess agent) {
    Pattern place =
        Pattern.compile(
            "\\S+ ERROR " + Pattern.quote(node.volume().file().toString()) + ":\\d+:\\d+: .*");
    return agent.stderr().stream().anyMatch(place.asMatchPredicate());
  }

  private static void assertRules(List<String> wanted, Node node, Family family) {
    assertEquals(String.join("\n", wanted), String.join("\n", node.rules(family)));
  }

  private static Case named(String name) {
    return Case.all().stream().filter(c -> c.name().equals(name)).findFirst().orElseThrow();
  }
}
