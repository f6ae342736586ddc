package ipmasq.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.e2e.Expected;
import ipmasq.e2e.Node;
import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.FakePrograms;
import ipmasq.testkit.FakePrograms.Behaviour;
import ipmasq.testkit.KernelTest;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A node that is not as the agent would have it. */
@KernelTest
@Tag("fault")
@Execution(ExecutionMode.CONCURRENT)
class SurroundingsTest {
  /** The limit is that of a user namespace, in which it may only change a network of its own. */
  private static List<String> without(String limit) {
    return List.of(
        "unshare",
        "--user",
        "--map-root-user",
        "--net",
        "sh",
        "-c",
        "echo 0 > /proc/sys/user/" + limit + " && exec \"$@\"",
        "sh");
  }

  @ParameterizedTest
  @ValueSource(strings = {"max_inotify_watches", "max_inotify_instances"})
  void withoutAWatchTheFileIsFollowedAllTheSame(String limit) {
    try (Node node = Node.open()) {
      AgentProcess agent = node.startBy(without(limit), "--backend=nftables");
      agent.awaitLine(line -> line.contains("cannot be watched"));
      Node.awaitFirstPass(agent);
      node.volume().publish("nonMasqueradeCIDRs: [10.9.0.0/16]\n");
      agent.awaitLine(line -> line.contains("rules changed (config"));
      assertEquals(
          1, agent.stderr().stream().filter(line -> line.contains("cannot be watched")).count());
    }
  }

  @Test
  void aChainOfOurNameThatIsSomebodyElsesIsLeftAlone() {
    try (Node node = Node.open()) {
      node.iptables(Family.IPV4, "-N " + Expected.CHAIN);
      node.iptables(Family.IPV4, "-A " + Expected.CHAIN + " -s 192.0.2.7/32 -j ACCEPT");
      List<String> theirs = node.rules(Family.IPV4);
      AgentProcess agent = node.start("--backend=iptables");
      agent.awaitLine(line -> line.contains("holds another program's rules; it was left alone"));
      assertEquals(theirs, node.rules(Family.IPV4));
      assertTrue(agent.running());
      node.iptables(Family.IPV4, "-F " + Expected.CHAIN); // an empty chain is nobody's
      node.awaitRules(Family.IPV4, Expected.DEFAULTS);
    }
  }

  @Test
  void aDormantTableIsSaidUntilItWakes() {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running("--backend=iptables");
      node.namespace().nft("add table ip nat { flags dormant; }");
      agent.awaitLine(
          line ->
              line.contains("table ip nat is dormant")
                  && line.contains("'nft add table ip nat' wakes it"));
      node.namespace().nft("add", "table", "ip", "nat");
      agent.awaitLine(line -> line.contains("IPv4 rules are in place again"));
      assertEquals(Expected.DEFAULTS, node.rules(Family.IPV4));
    }
  }

  /** What iptables cannot list it cannot keep either, though it could a moment ago. */
  @Test
  void whereIptablesTurnsIncompatibleAutoGoesToNftables() {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running();
      assertEquals(Expected.DEFAULTS, node.rules(Family.IPV4));
      node.namespace().nft("add rule ip nat POSTROUTING ct mark set 4");
      agent.awaitLine(
          line ->
              line.contains("backend nftables: iptables cannot hold our rules: ")
                  && line.contains("incompatible"));
      Eventually.within(
          Node.PATIENCE,
          "a table of our own",
          () -> node.namespace().nft("list", "tables"),
          tables -> tables.contains("inet ip-masq-agent"));
      assertTrue(agent.running());
    }
  }

  @Test
  void whatFailedForLongIsRightSoonAfterItWorksAgain() {
    try (Node node = Node.open()) {
      FakePrograms programs = node.fakePrograms();
      programs.set("iptables-restore", new Behaviour.Fail(3, "not now"));
      node.start("--backend=iptables");
      Eventually.within(
          Node.PATIENCE, "attempts", () -> programs.runs("iptables-restore"), n -> n >= 5);
      programs.set("iptables-restore", new Behaviour.Real());
      Eventually.within(
          Duration.ofSeconds(5),
          "rules soon after",
          () -> node.rules(Family.IPV4),
          Expected.DEFAULTS::equals);
    }
  }

  /**
   * A jump from another chain of the table holds on to ours: it cannot be deleted, only changed.
   */
  @Test
  void aForeignJumpIntoOurChainDoesNotKeepItFromChanging() {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running("--backend=iptables");
      node.iptables(Family.IPV4, "-N THEIRS");
      node.iptables(Family.IPV4, "-A THEIRS -j " + Expected.CHAIN);
      node.volume().publish("nonMasqueradeCIDRs: [10.9.0.0/16]\n");
      agent.awaitLine(line -> line.contains("rules changed (config"));
      assertTrue(
          node.rules(Family.IPV4).containsAll(Expected.rules(Expected.LINK_LOCAL, "10.9.0.0/16")));
    }
  }
}
