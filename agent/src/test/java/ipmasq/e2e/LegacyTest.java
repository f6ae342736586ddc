package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Probe;
import ipmasq.testkit.Result;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What happens in the tables of iptables-legacy is noticed long before the resync. */
@KernelTest
@Tag("listing")
@Execution(ExecutionMode.CONCURRENT)
class LegacyTest {
  private static final String LEGACY = "-legacy";

  /** So long that rules are read for no other reason than that they changed. */
  private static final String NO_RESYNC = "--resync-interval=3600";

  /** Less than the half minute after which other programs' legacy rules are read in any case. */
  private static final Duration SOON = Duration.ofSeconds(20);

  private static final String LISTEN = "--listen=127.0.0.1:9999";

  private static AgentProcess running(Node node, String... flags) {
    node.namespace().run("iptables-legacy", "-w", "-t", "mangle", "-N", "KUBE-IPTABLES-HINT").ok();
    AgentProcess agent = node.running(flags);
    agent.awaitLine(line -> line.contains("backend iptables-legacy: "));
    return agent;
  }

  private static void iptables(Namespace node, Family family, String words) {
    String program = family == Family.IPV4 ? "iptables-legacy" : "ip6tables-legacy";
    node.run(
            Stream.concat(Stream.of(program, "-w", "5", "-t", "nat"), Stream.of(words.split(" ")))
                .toArray(String[]::new))
        .ok();
  }

  @ParameterizedTest
  @EnumSource
  void tamperingIsHealed(Family family) {
    List<String> wanted = Expected.defaults(family);
    try (Lab lab = Lab.open();
        Node node = Node.in(lab.node())) {
      running(node, NO_RESYNC, "--enable-ipv6");
      for (String tampering :
          List.of(
              "-F IP-MASQ-AGENT",
              "-D POSTROUTING 1",
              "-D IP-MASQ-AGENT 1",
              "-R IP-MASQ-AGENT 1 -j ACCEPT", // a table of the same number of rules
              "-I IP-MASQ-AGENT 1 -p tcp -j ACCEPT",
              "-E IP-MASQ-AGENT SOMETHING",
              "-F")) {
        iptables(node.namespace(), family, tampering);
        Eventually.within(
            Node.PATIENCE,
            tampering + " undone",
            () -> node.rules(family, LEGACY),
            rules -> rules.containsAll(wanted));
      }
      assertEquals(Lab.NODE.v4(), lab.send(Probe.udp("8.8.8.8")).source());
      assertEquals(Lab.POD.v4(), lab.send(Probe.udp("10.9.9.9")).source());
      assertEquals(Lab.NODE.v6(), lab.send(Probe.udp("2001:db8:77::1")).source());
    }
  }

  @Test
  void aFightIsNoticed() {
    try (Node node = Node.open()) {
      AgentProcess agent = running(node, NO_RESYNC, LISTEN);
      Eventually.within(
          Node.PATIENCE,
          "a fight",
          () -> {
            iptables(node.namespace(), Family.IPV4, "-F " + Expected.CHAIN);
            return agent.stderr();
          },
          lines -> lines.stream().anyMatch(line -> line.contains("keeps changing our rules")));
      Result status = node.commandWithConfig("status");
      assertEquals(1, status.exit(), status.toString());
    }
  }

  /** In the order of a node that moved from the legacy Go agent to this one, and half back. */
  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void theChainOfAGoAgentIsSweptAtOnce(String backend) {
    try (Lab lab = Lab.open();
        Node node = Node.in(lab.node())) {
      AgentProcess agent = node.running(NO_RESYNC, "--backend=" + backend, "--v=2");
      // The look that follows each write; from now on nothing but a change leads to one.
      agent.awaitLine(line -> line.contains("found everything in place"));
      String rules =
          "*nat\n:IP-MASQ-AGENT - [0:0]\n"
              + Expected.jump(Expected.CHAIN)
              + "\n"
              + String.join("\n", Expected.chain(Expected.CHAIN, "8.0.0.0/8"))
              + "\nCOMMIT\n";
      node.namespace().feed(rules, "iptables-legacy-restore", "-w", "--noflush").ok();
      node.awaitRules(Family.IPV4, LEGACY, List.of());
      assertEquals(Lab.POD.v4(), lab.send(Probe.udp("10.9.9.9")).source());
    }
  }

  @Test
  void aForeignRuleIsReportedWithinSeconds() {
    try (Node node = Node.open()) {
      AgentProcess agent = running(node, NO_RESYNC, LISTEN);
      String rule = "POSTROUTING -s 10.1.0.0/16 -j MASQUERADE";
      iptables(node.namespace(), Family.IPV4, "-I " + rule);
      agent.awaitLine(line -> line.contains("WARN") && line.contains("10.1.0.0/16"), SOON);
      // The first look came soon after the start in any case, this one does not.
      iptables(node.namespace(), Family.IPV4, "-D " + rule);
      agent.awaitLine(line -> line.contains("gone: IPv4: "), SOON);
    }
  }

  /** An agent that does not watch still does not claim what it can see to be otherwise. */
  @ParameterizedTest
  @ValueSource(strings = {"-F IP-MASQ-AGENT", "-D IP-MASQ-AGENT 2", "-D POSTROUTING 1", "-F"})
  void rulesThatAreMissingAreNotInForce(String tampering) {
    try (Node node = Node.open()) {
      running(node, NO_RESYNC, LISTEN, "--watch-interval=0");
      assertEquals(0, node.commandWithConfig("status").exit());
      iptables(node.namespace(), Family.IPV4, tampering);
      Result status =
          Eventually.within(
              Node.PATIENCE, // a reading is kept for a second
              "another state",
              () -> node.commandWithConfig("status"),
              it -> it.exit() == 1);
      assertTrue(
          status.stdout().startsWith("IPv4 masquerading was set up")
              && !status.stdout().lines().findFirst().orElseThrow().contains("in force"),
          status.toString());
    }
  }
}
