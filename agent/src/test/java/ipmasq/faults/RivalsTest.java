package ipmasq.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.e2e.Expected;
import ipmasq.e2e.Node;
import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.FakePrograms;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Others at the same rules: a second agent, and a program that flushes them ten times a second. */
@KernelTest
@Tag("fault")
@Execution(ExecutionMode.CONCURRENT)
class RivalsTest {
  private static final int SECONDS = Form.of(10, 60);
  private static final String FIGHT = "another program keeps changing our rules";

  private static boolean said(AgentProcess agent, String words) {
    return agent.stderr().stream().anyMatch(line -> line.contains(words));
  }

  @Test
  void twoAgentsOnOneChainDoNotFight() {
    try (Node node = Node.open()) {
      FakePrograms programs = node.fakePrograms();
      AgentProcess one = node.running("--resync-interval=1", "--v=2");
      AgentProcess two = node.running("--resync-interval=1", "--v=2");
      long writes = programs.runs("iptables-restore");
      assertEquals(1, writes);
      int flushes = Form.of(3, 20);
      for (int i = 0; i < flushes; i++) {
        node.iptables(Family.IPV4, "-F " + Expected.CHAIN);
        node.awaitRules(Family.IPV4, Expected.DEFAULTS);
      }
      for (AgentProcess agent : List.of(one, two)) {
        int lines = agent.stderr().size();
        Eventually.within(
            Node.PATIENCE, "another pass", () -> agent.stderr().size(), n -> n > lines);
      }
      assertEquals(Expected.DEFAULTS, node.rules(Family.IPV4));
      // Where both mend at once, the second finds its work done or writes the same again.
      long more = programs.runs("iptables-restore") - writes;
      assertTrue(more <= 2L * flushes, "restores: " + more);
      one.terminate();
      assertEquals(0, one.awaitExit());
      node.iptables(Family.IPV4, "-F " + Expected.CHAIN);
      node.awaitRules(Family.IPV4, Expected.DEFAULTS);
    }
  }

  @Test
  void aSecondAgentLearnsThatTheTableIsTaken() {
    try (Node node = Node.open()) {
      AgentProcess owner = node.running("--backend=nftables");
      State before = State.of(node);
      node.volume().publish("nonMasqueradeCIDRs: [10.9.0.0/16]\nresyncInterval: 1s\n");
      owner.awaitLine(line -> line.contains("rules changed (config"));
      State changed = State.of(node);
      AgentProcess second = node.start("--backend=nftables");
      second.awaitLine(
          line ->
              line.contains("belongs to process " + owner.pid())
                  && line.contains("stop one of the two"));
      assertTrue(second.running());
      assertEquals(changed, State.of(node));
      assertTrue(!changed.equals(before));
      // When the first is gone, the second takes over.
      owner.kill();
      owner.awaitExit();
      second.awaitLine(line -> line.contains("IPv4 rules changed"));
      assertEquals(changed, State.of(node));
      node.volume().publish("resyncInterval: 1s\n");
      Eventually.within(Node.PATIENCE, "its rules", () -> State.of(node), before::equals);
    }
  }

  @Test
  void flushesTenTimesASecondAreAnsweredInBounds() throws Exception {
    try (Node node = Node.open()) {
      FakePrograms programs = node.fakePrograms();
      AgentProcess agent = node.running("--listen=127.0.0.1:9999");
      long before = programs.runs("iptables-restore");
      long begin = System.nanoTime();
      flush(node, "iptables -w 5 -t nat -F " + Expected.CHAIN);
      long seconds = Duration.ofNanos(System.nanoTime() - begin).toSeconds() + 1;
      long writes = programs.runs("iptables-restore") - before;
      // Three at once, one after a second, and from then on two seconds lie between them.
      assertTrue(writes >= 4 && writes <= 4 + seconds / 2 + 1, writes + " in " + seconds + " s");
      assertTrue(said(agent, FIGHT));
      String state = node.commandWithConfig("status").stdout();
      assertTrue(state.contains("another program keeps changing the rules"), state);
      node.awaitRules(Family.IPV4, Expected.DEFAULTS);
      if (Form.isLong()) {
        agent.awaitLine(line -> line.contains("has left our rules alone"), Duration.ofSeconds(90));
      }
    }
  }

  @Test
  void anOwnedTableDoesNotEvenNotice() throws Exception {
    try (Lab lab = Lab.open();
        Node node = Node.in(lab.node())) {
      node.volume().publish(World.OLD.file());
      AgentProcess agent = node.running("--backend=nftables");
      State before = State.of(node);
      int lines = agent.stderr().size();
      try (Traffic _ = Traffic.between(lab, World.OLD, World.OLD)) {
        flush(node, "nft flush ruleset; nft delete table inet ip-masq-agent");
      }
      assertEquals(before, State.of(node));
      assertEquals(lines, agent.stderr().size(), agent::toString);
    }
  }

  private static void flush(Node node, String command) throws IOException, InterruptedException {
    String script =
        "i=0; while [ $i -lt %d ]; do %s; sleep 0.1; i=$((i+1)); done 2>/dev/null"
            .formatted(SECONDS * 10, command);
    node.namespace().runWithin(Duration.ofSeconds(6L * SECONDS), "sh", "-c", script).ok();
  }
}
