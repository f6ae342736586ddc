package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.http.Fetch;
import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.ConfigVolume;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Probe;
import ipmasq.testkit.Result;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A running agent beside somebody who decides otherwise, asked in every way there is. */
@KernelTest
@Timeout(120)
class WhoElseTest {
  private static final String FLANNEL =
      "-A POSTROUTING -s 10.244.0.0/16 ! -d 224.0.0.0/4 -m comment --comment \"flanneld masq\""
          + " -j MASQUERADE";

  private static final InetSocketAddress AGENT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 10347);

  private static Result agent(Namespace node, String... arguments) {
    String[] command = new String[arguments.length + 1];
    command[0] = AgentProcess.builtAgent().toString();
    System.arraycopy(arguments, 0, command, 1, arguments.length);
    return node.run(command);
  }

  @Test
  void isNamedInLogStatusMetricsAndExplanations() throws Exception {
    try (Lab lab = Lab.open();
        ConfigVolume volume = new ConfigVolume()) {
      Namespace node = lab.node();
      node.feed("*nat\n" + FLANNEL + "\nCOMMIT\n", "iptables-restore", "--noflush").ok();
      volume.publish("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
      try (AgentProcess agent =
          AgentProcess.start(
              node, "--config", volume.file().toString(), "--listen", "127.0.0.1:10347")) {
        agent.awaitLine(line -> line.contains("WARN") && line.contains("a rule of flannel"));
        assertEquals(Lab.NODE.v4(), lab.send(Probe.udp("10.99.0.1")).source());

        Result explained = agent(node, "explain", "10.244.1.2", "10.99.0.1");
        assertTrue(
            explained
                .ok()
                .startsWith(
                    "A packet from 10.244.1.2 to 10.99.0.1 gets another source address, 192.0.2.10."),
            explained.toString());
        Result json = agent(node, "explain", "--from=10.244.1.2", "10.99.0.1", "--output=json");
        assertTrue(
            json.ok().contains("\"actual\":\"translated\",\"translatedTo\":\"192.0.2.10\""),
            json.toString());
        String asked = "/api/explain?from=10.244.1.2&to=10.99.0.1";
        String api = node.call(() -> Fetch.get(AGENT, asked)).body();
        assertEquals(json.ok().strip(), "[" + api.strip() + "]");

        Result status = agent(node, "status");
        assertEquals(1, status.exit(), status.toString());
        assertTrue(
            status.stdout().contains("says, but a rule of flannel masquerades"), "" + status);
        assertTrue(status.stdout().contains("start flanneld without --ip-masq"), "" + status);
        assertFalse(status.stderr().contains("What follows"), status.toString());
        String metrics = node.call(() -> Fetch.get(AGENT, "/metrics")).body();
        assertTrue(metrics.contains("owner=\"flannel\"} 1"), metrics);
        assertEquals(1, agent.stderr().stream().filter(line -> line.contains("flannel")).count());

        node.run("iptables", "-t", "nat", "-D", "POSTROUTING", "1").ok();
        agent.awaitLine(line -> line.contains("gone: IPv4: a rule of flannel"));
        node.run("nft", "add table ip mine").ok();
        node.run("nft", "add chain ip mine post { type nat hook postrouting priority 90; }").ok();
        node.run("nft", "add rule ip mine post ip daddr 10.99.0.0/16 masquerade").ok();
        agent.awaitLine(line -> line.contains("WARN") && line.contains("table ip mine chain post"));
        String history = node.call(() -> Fetch.get(AGENT, "/api/status")).body();
        assertTrue(history.contains("\"event\":\"conflict-gone\""), history);
        assertTrue(history.contains("another program masquerades packets that the"), history);
      }
    }
  }

  /** Two that do the same are two conflicts, and whoever asks after a change is told of it. */
  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void eachRuleIsToldWhenItComesAndWhenItGoes(String backend) {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running("--backend=" + backend, "--listen=127.0.0.1:10347");
      agent.awaitLine(line -> line.contains("listening on"));
      String first = "POSTROUTING -d 10.9.9.9/32 -j MASQUERADE";
      String second = "POSTROUTING -d 10.77.0.0/16 -j MASQUERADE";
      node.iptables(Family.IPV4, "-A " + first);
      agent.awaitLine(line -> line.contains("WARN") && line.contains(first));
      assertEquals(1, node.command("status").exit());
      node.iptables(Family.IPV4, "-A " + second);
      agent.awaitLine(line -> line.contains("WARN") && line.contains(second));
      node.iptables(Family.IPV4, "-D " + first);
      agent.awaitLine(line -> line.contains("gone: IPv4: ") && line.endsWith(first));
      String status = node.command("status").stdout();
      assertFalse(status.lines().anyMatch(l -> l.startsWith("  IPv4: ") && l.contains(first)));
      assertTrue(status.lines().anyMatch(l -> l.startsWith("  IPv4: ") && l.contains(second)));
      assertEquals(1, agent.stderr().stream().filter(line -> line.contains(second)).count());
      node.iptables(Family.IPV4, "-D " + second);
      agent.awaitLine(line -> line.contains("gone: IPv4: ") && line.endsWith(second));
      assertEquals(0, node.command("status").exit());
    }
  }

  /** As many rules as pods: one line for all, and none is said to be gone that stays. */
  @Test
  void manyRulesAreToldAsOneAndFewEachAgain() {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running();
      String rule = "POSTROUTING -d 10.9.%d.0/24 -j MASQUERADE";
      node.iptables(Family.IPV4, "-A " + rule.formatted(1));
      agent.awaitLine(line -> line.contains("WARN") && line.contains(rule.formatted(1)));
      for (int i = 2; i <= 7; i++) {
        node.iptables(Family.IPV4, "-A " + rule.formatted(i));
      }
      agent.awaitLine(line -> line.contains("WARN") && line.contains(" (and 6 more like it)"));
      for (int i = 1; i <= 5; i++) {
        node.iptables(Family.IPV4, "-D " + rule.formatted(i));
      }
      agent.awaitLine(line -> line.contains("WARN") && line.contains(rule.formatted(7)));
      agent.awaitLine(line -> line.contains("gone: ") && line.endsWith(rule.formatted(1)));
      assertFalse(
          agent.stderr().stream()
              .anyMatch(line -> line.contains("gone: ") && line.contains("more like it")),
          agent::toString);
      node.iptables(Family.IPV4, "-D " + rule.formatted(6));
      node.iptables(Family.IPV4, "-D " + rule.formatted(7));
      agent.awaitLine(line -> line.contains("gone: ") && line.endsWith(rule.formatted(7)));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void rulesOfAnEarlierRunAreJudgedByThemselves(String backend) throws Exception {
    try (Lab lab = Lab.open();
        ConfigVolume volume = new ConfigVolume()) {
      Namespace node = lab.node();
      String config = "--config=" + volume.file();
      String to = "--backend=" + backend;
      volume.publish("nonMasqueradeCIDRs: [203.0.113.0/24]\n");
      agent(node, "apply", config, to).ok();
      volume.publish("nonMasqueradeCIDRs: [10.0.0.1/8]\n");
      try (AgentProcess agent =
          AgentProcess.start(node, config, to, "--listen", "127.0.0.1:10347")) {
        agent.awaitLine(line -> line.contains("listening"));
        assertEquals(Lab.POD.v4(), lab.send(Probe.udp("203.0.113.7")).source());
        assertEquals(Lab.NODE.v4(), lab.send(Probe.udp("10.99.0.1")).source());
        String kept = "/api/explain?from=10.244.1.2&to=203.0.113.7";
        String answer = node.call(() -> Fetch.get(AGENT, kept)).body();
        assertTrue(answer.contains("\"wanted\":\"kept\",\"actual\":\"kept\""), answer);
        String translated = "/api/explain?from=10.244.1.2&to=10.99.0.1";
        answer = node.call(() -> Fetch.get(AGENT, translated)).body();
        assertTrue(answer.contains("\"actual\":\"translated\""), answer);
        node.run("nft", "add table ip mine").ok();
        node.run("nft", "add chain ip mine post { type nat hook postrouting priority 90; }").ok();
        node.run("nft", "add rule ip mine post ip daddr 203.0.113.0/24 masquerade").ok();
        agent.awaitLine(
            line ->
                line.contains("masquerades packets that the config exempts (to 203.0.113.0/24)"));
        String status = agent(node, "status").stdout();
        assertTrue(status.contains("none: the rules of an earlier run are kept"), status);
      }
    }
  }

  /** What is advised about an ACCEPT helps. */
  @Test
  void anAcceptShieldsFromIptablesButNotFromNftables() {
    try (Lab lab = Lab.open();
        ConfigVolume volume = new ConfigVolume()) {
      Namespace node = lab.node();
      node.run("iptables", "-t", "nat", "-A", "POSTROUTING", "-s", "10.244.0.0/16", "-j", "ACCEPT")
          .ok();
      String config = "--config=" + volume.file();
      volume.publish("backend: iptables\nnonMasqueradeCIDRs: [10.0.0.0/8]\n");
      agent(node, "apply", config).ok();
      assertEquals(Lab.POD.v4(), lab.send(Probe.udp("203.0.113.7")).source());
      String status = agent(node, "status", config).stdout();
      assertTrue(status.contains("keeps packets from 10.244.0.0/16 from our rules"), status);
      assertTrue(status.contains("or set backend: nftables"), status);

      volume.publish("backend: nftables\nnonMasqueradeCIDRs: [10.0.0.0/8]\n");
      agent(node, "apply", config).ok();
      assertEquals(Lab.NODE.v4(), lab.send(Probe.udp("203.0.113.9")).source());
      status = agent(node, "status", config).stdout();
      assertFalse(status.contains("from our rules"), status);
    }
  }

  @Test
  void whatIsPinnedIsTakenByNobody() {
    try (Lab lab = Lab.open();
        ConfigVolume volume = new ConfigVolume()) {
      Namespace node = lab.node();
      node.feed("*nat\n" + FLANNEL + "\nCOMMIT\n", "iptables-restore", "--noflush").ok();
      String config = "--config=" + volume.file();
      volume.publish("backend: nftables\nnonMasqueradeCIDRs: [10.0.0.0/8]\npin: true\n");
      agent(node, "apply", config).ok();
      assertEquals(Lab.POD.v4(), lab.send(Probe.udp("10.99.0.1")).source());

      String explained = agent(node, "explain", "10.244.1.2", "10.99.0.1").ok();
      assertTrue(explained.contains("and pinned"), explained);
      assertTrue(explained.lines().allMatch(line -> line.length() <= 100), explained);
      assertTrue(
          explained.startsWith("A packet from 10.244.1.2 to 10.99.0.1 keeps its source"),
          explained);
      Result json = agent(node, "explain", "--from=10.244.1.2", "10.99.0.1", "--output=json");
      assertTrue(
          json.ok().contains("\"actual\":\"kept\"") && json.ok().contains("\"pinned\":true"),
          "" + json);
      String status = agent(node, "status", config).stdout();
      assertTrue(status.startsWith("No agent runs here. The rules are what "), status);
      assertFalse(status.contains("Other rules"), status);
      assertTrue(status.contains("exempt ranges pinned"), status);

      // Without it the same rule decides, and is named.
      volume.publish("backend: nftables\nnonMasqueradeCIDRs: [10.0.0.0/8]\n");
      agent(node, "apply", config).ok();
      assertEquals(Lab.NODE.v4(), lab.send(Probe.udp("10.99.0.1")).source());
      String unpinned = agent(node, "status", config).stdout();
      assertTrue(unpinned.contains("Other rules"), unpinned);
      assertFalse(unpinned.contains("pinned"), unpinned);
    }
  }

  @Test
  void aPortThatIsTakenStopsNothing() throws Exception {
    try (Lab lab = Lab.open();
        ConfigVolume volume = new ConfigVolume()) {
      Namespace node = lab.node();
      volume.publish("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
      ServerSocket taken =
          node.call(() -> new ServerSocket(10347, 1, InetAddress.getLoopbackAddress()));
      try (AgentProcess agent =
          AgentProcess.start(
              node, "--config", volume.file().toString(), "--listen", "127.0.0.1:10347")) {
        agent.awaitLine(line -> line.contains("cannot listen on 127.0.0.1:10347"));
        assertEquals(Lab.NODE.v4(), lab.send(Probe.udp("198.51.100.9")).source());
        assertEquals(Lab.POD.v4(), lab.send(Probe.udp("10.99.0.1")).source());
        taken.close();
        agent.awaitLine(line -> line.contains("listening on http://127.0.0.1:10347"));
        String ready = node.call(() -> Fetch.get(AGENT, "/readyz")).body();
        assertTrue(ready.startsWith("ready\nIPv4 masquerading is "), ready);
      }
    }
  }
}
