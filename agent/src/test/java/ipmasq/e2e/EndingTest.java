package ipmasq.e2e;

import static ipmasq.e2e.Expected.DEFAULTS;
import static ipmasq.e2e.Expected.DEFAULTS6;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.FakePrograms;
import ipmasq.testkit.FakePrograms.Behaviour;
import ipmasq.testkit.KernelTest;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** How the agent ends, and what it leaves behind. */
@KernelTest
@Execution(ExecutionMode.CONCURRENT)
class EndingTest {
  /** Well before the next resync, and before the kubelet loses patience. */
  private static final Duration AT_ONCE = Duration.ofSeconds(5);

  @Test
  void sigtermEndsItAtOnceAndLeavesTheRules() {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running("--enable-ipv6");
      agent.terminate();
      assertEquals(0, agent.awaitExit(AT_ONCE));
      assertEquals(DEFAULTS, node.rules(Family.IPV4));
      assertEquals(DEFAULTS6, node.rules(Family.IPV6));
    }
  }

  @Test
  void sigintDoesTheSame() {
    try (Node node = Node.open()) {
      // A test that itself runs in the background of a shell has children that ignore it.
      AgentProcess agent = node.startBy(List.of("/usr/bin/env", "--default-signal=INT"));
      Node.awaitFirstPass(agent);
      node.namespace().run("kill", "-INT", String.valueOf(agent.pid())).ok();
      assertEquals(0, agent.awaitExit(AT_ONCE));
      assertEquals(DEFAULTS, node.rules(Family.IPV4));
    }
  }

  @Test
  void aProgramThatHangsDoesNotKeepItAlive() {
    try (Node node = Node.open()) {
      FakePrograms programs = node.fakePrograms();
      programs.set("iptables-save", new Behaviour.Hang());
      AgentProcess agent = node.start();
      agent.awaitLine(line -> line.contains(" starts"));
      agent.terminate();
      agent.awaitExit(Duration.ofSeconds(15));
    }
  }

  @Test
  void withCleanupOnExitItTakesItsRulesAlong() {
    String foreign = "-A POSTROUTING -s 10.1.0.0/16 -j ACCEPT";
    try (Node node = Node.open()) {
      node.restore(Family.IPV4, "*nat\n" + foreign + "\nCOMMIT\n");
      node.volume().publish("masqChain: FROM-THE-FILE\nmasqueradeCIDRs: [10.1.2.0/24]\n");
      AgentProcess agent = node.running("--enable-ipv6", "--cleanup-on-exit");
      assertFalse(node.rules(Family.IPV6).isEmpty());
      agent.terminate();
      assertEquals(0, agent.awaitExit(Duration.ofSeconds(15)));
      assertEquals(List.of(foreign), node.rules(Family.IPV4));
      assertEquals(List.of(), node.rules(Family.IPV6));
      assertFalse(node.namespace().iptablesSave("nat").contains("FROM-THE-FILE"));
      assertFalse(node.namespace().ip6tablesSave("nat").contains("FROM-THE-FILE"));
    }
  }
}
