package ipmasq.evidence.neighbours;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.config.Config;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.KubeProxyRules;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Probe;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@KernelTest
@Timeout(120)
class NeighboursTest {
  private static final Neighbours.Ours NONE =
      new Neighbours.Ours("nftables", "ANY", Optional.empty());
  private static final NodeLinks LINKS =
      new NodeLinks(List.of("eth0", "pod0"), List.of(), List.of(), List.of());

  private static Question question(String to, String from) {
    return new Question(
        Ip.of(to),
        Optional.of(Ip.of(from)),
        Optional.empty(),
        OptionalInt.empty(),
        Optional.empty());
  }

  private static Explanation explain(Neighbours neighbours, String to, String from) {
    return neighbours.explain(question(to, from), Optional.empty(), NONE, LINKS);
  }

  /** Its content changes without a trace in the rules. */
  @ParameterizedTest
  @ValueSource(strings = {"iptables-nft", "iptables-legacy", "ip6tables-nft", "ip6tables-legacy"})
  void anIpsetIsReadAgain(String program) {
    String to = program.startsWith("ip6") ? "2001:db8:113::7" : "203.0.113.7";
    InetAddress pod = Lab.POD.like(InetAddress.ofLiteral(to));
    String family = program.startsWith("ip6") ? "inet6" : "inet";
    try (Lab lab = Lab.open();
        Neighbours neighbours = new Neighbours()) {
      Namespace node = lab.node();
      node.run("ipset", "create", "some", "hash:ip", "family", family).ok();
      String rule = " -t nat -A POSTROUTING -m set --match-set some dst -j MASQUERADE";
      node.run((program + rule).split(" ")).ok();
      for (boolean inside : List.of(false, true, false)) {
        if (inside) {
          node.run("ipset", "add", "some", to).ok();
        } else {
          node.run("ipset", "flush", "some").ok();
        }
        Explanation answer =
            node.call(() -> explain(neighbours, to, Ip.ofBytes(pod.getAddress()).toString()));
        assertEquals(inside ? "translated" : "kept", answer.outcome().orElseThrow().word());
        assertEquals(inside, !lab.send(Probe.udp(to)).source().equals(pod));
      }
    }
  }

  /** Twelve chains with twelve jumps each are more ways than anybody can follow. */
  @ParameterizedTest
  @ValueSource(strings = {"iptables-nft-restore", "iptables-legacy-restore"})
  void aMazeIsTooManyRules(String restore) {
    StringBuilder rules = new StringBuilder("*nat\n");
    for (int chain = 1; chain <= 8; chain++) {
      rules.append(":MAZE-").append(chain).append(" - [0:0]\n");
    }
    rules.append("-A POSTROUTING -j MAZE-1\n");
    for (int chain = 1; chain < 8; chain++) {
      rules.repeat("-A MAZE-" + chain + " -j MAZE-" + (chain + 1) + "\n", 8);
    }
    rules.append("-A MAZE-8 -d 192.0.2.200/32 -j MASQUERADE\nCOMMIT\n");
    Policy policy = Config.defaults().policy(Family.IPV4);
    try (Namespace node = Namespace.open("node");
        Neighbours neighbours = new Neighbours()) {
      node.feed(rules.toString(), restore, "--noflush").ok();
      Explanation answer = node.call(() -> explain(neighbours, "8.8.8.8", "10.244.1.2"));
      assertEquals("unknown", answer.outcome().orElseThrow().word());
      assertTrue(answer.why().contains("too many rules"), answer.why());
      List<Conflict> conflicts = node.call(() -> neighbours.conflicts(policy, NONE, LINKS));
      assertTrue(
          conflicts.stream().anyMatch(it -> it.kind() == Conflict.Kind.UNCLEAR), "" + conflicts);
    }
  }

  /** A comment that clears the screen, forges a line and turns text around. */
  @ParameterizedTest
  @ValueSource(strings = {"iptables-nft-restore", "iptables-legacy-restore", "nft"})
  void whatOthersWroteIsOnlyText(String tool) {
    String hostile = "x\u001b[2J\u009b\u202eevil";
    Policy policy = Config.defaults().policy(Family.IPV4);
    try (Namespace node = Namespace.open("node");
        Neighbours neighbours = new Neighbours()) {
      if (tool.equals("nft")) {
        String chain = "chain post { type nat hook postrouting priority 90; masquerade comment \"";
        node.feed("table ip mine { " + chain + hostile + "\"; }; }", "nft", "-f", "-").ok();
      } else {
        String rule = "-A POSTROUTING -m comment --comment \"" + hostile + "\" -j MASQUERADE";
        node.feed("*nat\n" + rule + "\nCOMMIT\n", tool, "--noflush").ok();
      }
      List<Conflict> conflicts = node.call(() -> neighbours.conflicts(policy, NONE, LINKS));
      Explanation answer = node.call(() -> explain(neighbours, "8.8.8.8", "10.244.1.2"));
      assertEquals(1, conflicts.size(), conflicts.toString());
      for (String text :
          List.of(
              conflicts.getFirst().toString(),
              conflicts.getFirst().fields().toString(),
              answer.fields().toString())) {
        assertTrue(text.contains("evil"), text);
        assertFalse(text.codePoints().anyMatch(Character::isISOControl), text);
        assertFalse(text.contains("\u202e"), text);
      }
    }
  }

  /** However many services there are: their rules are met once, and nothing else of the node's. */
  @Test
  void manyQuestionsBesideManyServices() {
    try (Namespace node = Namespace.open("node");
        Neighbours neighbours = new Neighbours()) {
      node.feed(KubeProxyRules.nat(800), "iptables-nft-restore").ok();
      String service = KubeProxyRules.address(7);
      int threads = Thread.activeCount();
      for (int i = 0; i < 250; i++) {
        String to = i % 50 == 0 ? service : "8.8.8.8";
        Explanation answer = node.call(() -> explain(neighbours, to, "10.244.1.2"));
        assertEquals(
            to.equals(service) ? "unknown" : "kept", answer.outcome().orElseThrow().word());
      }
      assertTrue(Thread.activeCount() <= threads + 2);
    }
  }
}
