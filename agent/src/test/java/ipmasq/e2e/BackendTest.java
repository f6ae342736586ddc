package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.FakePrograms;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Probe;
import ipmasq.testkit.Sighting;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which backend the agent takes, and how it goes from one to the other. */
@KernelTest
@Tag("listing")
class BackendTest {
  @Test
  void autoFollowsKubeProxy() {
    try (Node node = Node.open()) {
      node.namespace().nft("add", "table", "ip", "kube-proxy");
      AgentProcess agent = node.running();
      agent.awaitLine(
          line ->
              line.contains("backend nftables: kube-proxy runs in nftables mode; the table is"));
      assertTrue(tables(node).contains("table inet ip-masq-agent"));
    }
  }

  @Test
  void autoFollowsAKubeProxyThatComesLater() {
    try (Node node = Node.open()) {
      node.volume().publish("resyncInterval: 200ms");
      AgentProcess agent = node.running();
      agent.awaitLine(line -> line.contains("backend iptables-nft: the node's default"));
      node.namespace().nft("add", "table", "ip6", "kube-proxy");
      agent.awaitLine(line -> line.contains("backend nftables: kube-proxy runs in nftables mode"));
      assertTrue(tables(node).contains("table inet ip-masq-agent"));
      Eventually.eventually("no rules left", () -> node.rules(Family.IPV4), List::isEmpty);
    }
  }

  @Test
  void withoutIptablesAutoIsNftables() {
    try (Node node = Node.open()) {
      FakePrograms programs = node.fakePrograms();
      programs.removeAll();
      AgentProcess agent = node.running();
      agent.awaitLine(
          line ->
              line.contains(
                  "backend nftables: iptables cannot hold our rules: there is none on PATH"));
      assertTrue(tables(node).contains("table inet ip-masq-agent"));
    }
  }

  @Test
  void theLimitOfRangesIsThatOfIptablesUnlessTheFileSetsOne() {
    StringBuilder many = new StringBuilder("nonMasqueradeCIDRs:\n");
    for (int i = 0; i < 65; i++) {
      many.append("- 10.").append(i).append(".0.0/16\n");
    }
    try (Node node = Node.open()) {
      node.volume().publish(many.toString());
      String tooMany = "can only accept up to 64 CIDRs (excluding link-local), but got 65";
      AgentProcess iptables = node.running("--backend=iptables");
      iptables.awaitLine(line -> line.contains(tooMany));
      iptables.terminate();
      iptables.awaitExit();
      AgentProcess nftables = node.running("--backend=nftables");
      Eventually.eventually("the last range", () -> table(node), t -> t.contains("10.64.0.0/16"));
      assertFalse(nftables.stderr().stream().anyMatch(line -> line.contains("ERROR")));
      node.volume().publish(many + "cidrLimit: 64\n");
      nftables.awaitLine(line -> line.contains(tooMany));
      node.volume().publish(many + "cidrLimit: 65\n");
      nftables.awaitLine(line -> line.contains("the config file is good again"));
    }
  }

  @Test
  void switchingNeverShowsAWrongSource() throws Exception {
    try (Lab lab = Lab.open();
        Node node = Node.in(lab.node())) {
      node.volume().publish("backend: iptables\n");
      AgentProcess agent = node.running();
      AtomicBoolean over = new AtomicBoolean();
      CompletableFuture<List<String>> sampler = new CompletableFuture<>();
      Thread.ofPlatform().start(() -> sample(lab, over, sampler));
      for (int round = 0; round < 3; round++) {
        node.volume().publish("backend: nftables\n");
        awaitOnly(node, true);
        node.volume().publish("backend: iptables\n");
        awaitOnly(node, false);
      }
      over.set(true);
      assertEquals(List.of(), sampler.get());
      assertFalse(agent.stderr().stream().anyMatch(line -> line.contains("ERROR")));
    }
  }

  private static void awaitOnly(Node node, boolean nftables) {
    Eventually.within(
        Node.PATIENCE,
        nftables ? "only nftables" : "only iptables",
        () ->
            tables(node).contains("table inet ip-masq-agent")
                + " "
                + node.rules(Family.IPV4).isEmpty(),
        (nftables + " " + nftables)::equals);
  }

  /** Sends to an exempt and to another destination until told to stop; returns what was wrong. */
  private static void sample(Lab lab, AtomicBoolean over, CompletableFuture<List<String>> result) {
    try {
      List<String> wrong = new ArrayList<>();
      while (!over.get()) {
        List<Probe> probes = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
          probes.add(Probe.udp(i % 2 == 0 ? "10.1.2.3" : "203.0.113.5"));
        }
        List<Sighting> sightings = lab.sendAll(probes);
        for (int i = 0; i < 8; i++) {
          InetAddress right = i % 2 == 0 ? Lab.POD.v4() : Lab.NODE.v4();
          if (!sightings.get(i).source().equals(right)) {
            wrong.add(probes.get(i) + ": " + sightings.get(i));
          }
        }
      }
      result.complete(wrong);
    } catch (RuntimeException | Error e) {
      result.completeExceptionally(e);
    }
  }

  private static String tables(Node node) {
    return node.namespace().nft("list", "tables");
  }

  private static String table(Node node) {
    return node.namespace().nft("list", "table", "inet", "ip-masq-agent");
  }
}
