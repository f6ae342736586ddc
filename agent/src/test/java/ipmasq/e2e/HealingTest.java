package ipmasq.e2e;

import static ipmasq.e2e.Expected.DEFAULTS;
import static ipmasq.e2e.Expected.DEFAULTS6;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.KernelTest;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever somebody does to the rules, they come back, and other people's rules stay. */
@KernelTest
@Tag("listing")
@Execution(ExecutionMode.CONCURRENT)
class HealingTest {
  private static final String[] OFTEN = {"--resync-interval=1", "--enable-ipv6"};

  @ParameterizedTest
  @EnumSource
  void tamperingIsHealed(Family family) {
    List<String> wanted = Expected.defaults(family);
    try (Node node = Node.open()) {
      node.running(OFTEN);
      for (String tampering :
          List.of(
              "-F IP-MASQ-AGENT", // chain flushed
              "-D POSTROUTING 1", // jump deleted
              "-D IP-MASQ-AGENT 1", // a rule deleted
              "-I IP-MASQ-AGENT 1 -p tcp -j ACCEPT", // a rule put in
              "-A IP-MASQ-AGENT -p tcp -j ACCEPT", // also where it has no effect
              "-F")) { // as GCE's bootstrap does
        node.iptables(family, tampering);
        node.awaitRules(family, wanted);
      }
      node.iptables(family, "-F");
      node.iptables(family, "-X");
      node.awaitRules(family, wanted);
    }
  }

  @Test
  void aRulesetThatIsSweptAwayComesBack() {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running(OFTEN);
      node.namespace().nft("flush", "ruleset");
      node.awaitRules(Family.IPV4, DEFAULTS);
      node.awaitRules(Family.IPV6, DEFAULTS6);
      agent.awaitLine(line -> line.contains("IPv6 rules changed (") && !line.contains("(start, "));
    }
  }

  @Test
  void aJumpThatStandsTwiceIsMadeOne() {
    try (Node node = Node.open()) {
      node.running(OFTEN);
      node.restore(Family.IPV4, "*nat\n" + Expected.jump(Expected.CHAIN) + "\nCOMMIT\n");
      node.awaitRules(Family.IPV4, DEFAULTS);
    }
  }

  @Test
  void otherPeoplesRulesStayInTheirOrder() {
    String before = "-A POSTROUTING -s 10.1.0.0/16 -m comment --comment before -j ACCEPT";
    String between = "-A POSTROUTING -s 10.2.0.0/16 -m comment --comment between -j KUBE-THING";
    String after =
        "-A POSTROUTING -s 10.3.0.0/16 -m comment --comment \"after it all\" -j SNAT"
            + " --to-source 192.0.2.7";
    String inside = "-A KUBE-THING -m mark --mark 0x4000/0x4000 -j MASQUERADE";
    String elsewhere = "-A PREROUTING -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.1.2.3";
    try (Node node = Node.open()) {
      node.restore(
          Family.IPV4,
          String.join("\n", "*nat", ":KUBE-THING - [0:0]", elsewhere, before, between, inside)
              + "\nCOMMIT\n");
      node.running(OFTEN);
      node.restore(Family.IPV4, "*nat\n" + after + "\nCOMMIT\n");
      List<String> wanted = new ArrayList<>(List.of(elsewhere, before, between));
      wanted.add(DEFAULTS.getFirst());
      wanted.add(after);
      wanted.addAll(DEFAULTS.subList(1, DEFAULTS.size()));
      wanted.add(inside);
      assertEquals(wanted, node.rules(Family.IPV4));
      node.iptables(Family.IPV4, "-F IP-MASQ-AGENT");
      node.awaitRules(Family.IPV4, wanted);
      // Without its jump the chain is joined at the end: nobody's rule changes its place.
      node.iptables(Family.IPV4, "-D POSTROUTING 3");
      wanted.remove(DEFAULTS.getFirst());
      wanted.add(4, DEFAULTS.getFirst());
      node.awaitRules(Family.IPV4, wanted);
    }
  }
}
