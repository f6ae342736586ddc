package ipmasq.backend.iptables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.iptables.IptablesRule.Probability;
import ipmasq.iptables.Listing;
import ipmasq.net.Family;
import ipmasq.net.PortRange;
import ipmasq.policy.Policy;
import ipmasq.policy.Translation;
import ipmasq.testkit.Policies;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The rules of a policy, in the words of iptables-save. */
class IptablesLayoutTest {
  private static final ChainNames NAMES = ChainNames.of("IP-MASQ-AGENT");

  private static String rules(Policy policy) {
    IptablesLayout layout = IptablesLayout.of(policy, NAMES);
    return lines("IP-MASQ-AGENT", layout.main()) + lines("IP-MASQ-AGENT-OUT", layout.out());
  }

  private static String lines(String chain, List<IptablesRule> rules) {
    return rules.stream()
        .map(rule -> "-A " + chain + " " + rule + "\n")
        .collect(Collectors.joining())
        .replace(RuleComments.EXEMPT, "LOCAL")
        .replace(RuleComments.OUTBOUND, "OUTBOUND");
  }

  @Test
  void theWordsAreThoseThatPeopleSearchFor() {
    assertEquals(
        "-d 10.0.0.0/8 -m comment --comment \"ip-masq-agent: local traffic is not subject to"
            + " MASQUERADE\" -j RETURN",
        IptablesLayout.of(Policies.exempting("10.0.0.0/8"), NAMES).main().getFirst().toString());
    assertEquals(
        "-m comment --comment \"ip-masq-agent: outbound traffic is subject to MASQUERADE (must be"
            + " last in chain)\" -j MASQUERADE --random-fully",
        IptablesLayout.of(Policies.exempting("10.0.0.0/8"), NAMES).main().getLast().toString());
    assertEquals(
        "-m comment --comment \"ip-masq-agent: ensure nat POSTROUTING directs all non-LOCAL"
            + " destination traffic to our custom IP-MASQ-AGENT chain\" -m addrtype ! --dst-type"
            + " LOCAL -j IP-MASQ-AGENT",
        IptablesRule.jump(Family.IPV4, "IP-MASQ-AGENT").toString());
  }

  @Test
  void theDefaults() {
    assertEquals(
        """
        -A IP-MASQ-AGENT -d 169.254.0.0/16 -m comment --comment "LOCAL" -j RETURN
        -A IP-MASQ-AGENT -d 10.0.0.0/8 -m comment --comment "LOCAL" -j RETURN
        -A IP-MASQ-AGENT -d 172.16.0.0/12 -m comment --comment "LOCAL" -j RETURN
        -A IP-MASQ-AGENT -d 192.168.0.0/16 -m comment --comment "LOCAL" -j RETURN
        -A IP-MASQ-AGENT -m comment --comment "OUTBOUND" -j MASQUERADE --random-fully
        """,
        rules(
            Policies.exempting("169.254.0.0/16", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")));
  }

  @Test
  void everythingExemptIsARuleWithoutDestination() {
    assertEquals(
        """
        -A IP-MASQ-AGENT -d fe80::/10 -m comment --comment "LOCAL" -j RETURN
        -A IP-MASQ-AGENT -m comment --comment "LOCAL" -j RETURN
        -A IP-MASQ-AGENT -m comment --comment "OUTBOUND" -j MASQUERADE --random-fully
        """,
        rules(Policies.exempting("fe80::/10", "::/0")));
  }

  @Test
  void portRangesShareTheFlowsBySize() {
    Translation ports =
        new Translation(
            Optional.empty(),
            List.of(
                new PortRange(1000, 1999), new PortRange(3000, 3999), new PortRange(5000, 6999)),
            false);
    assertEquals(
        """
        -A IP-MASQ-AGENT -p tcp -m comment --comment "OUTBOUND" -m statistic --mode random --probability 0.25000000000 -j MASQUERADE --to-ports 1000-1999
        -A IP-MASQ-AGENT -p tcp -m comment --comment "OUTBOUND" -m statistic --mode random --probability 0.33333333349 -j MASQUERADE --to-ports 3000-3999
        -A IP-MASQ-AGENT -p tcp -m comment --comment "OUTBOUND" -j MASQUERADE --to-ports 5000-6999
        -A IP-MASQ-AGENT -p udp -m comment --comment "OUTBOUND" -m statistic --mode random --probability 0.25000000000 -j MASQUERADE --to-ports 1000-1999
        -A IP-MASQ-AGENT -p udp -m comment --comment "OUTBOUND" -m statistic --mode random --probability 0.33333333349 -j MASQUERADE --to-ports 3000-3999
        -A IP-MASQ-AGENT -p udp -m comment --comment "OUTBOUND" -j MASQUERADE --to-ports 5000-6999
        -A IP-MASQ-AGENT -p sctp -m comment --comment "OUTBOUND" -m statistic --mode random --probability 0.25000000000 -j MASQUERADE --to-ports 1000-1999
        -A IP-MASQ-AGENT -p sctp -m comment --comment "OUTBOUND" -m statistic --mode random --probability 0.33333333349 -j MASQUERADE --to-ports 3000-3999
        -A IP-MASQ-AGENT -p sctp -m comment --comment "OUTBOUND" -j MASQUERADE --to-ports 5000-6999
        -A IP-MASQ-AGENT -m comment --comment "OUTBOUND" -j MASQUERADE
        """,
        rules(Policies.of(Family.IPV4, ports)));
  }

  @Test
  void sharesAreTheKernelsFractions() {
    assertEquals("0.46929256292", Probability.of(28976, 61744).toString());
    assertEquals("0.39426957211", Probability.of(977, 977 + 1501).toString());
    assertEquals("0.00001573889", Probability.of(1, 63537).toString());
    assertEquals("0.50000000000", Probability.of(1, 2).toString());
    assertEquals("0.99999999953", new Probability(Integer.MAX_VALUE).toString());
    for (int fixed : new int[] {1, 2, 3, 715827883, 1007798102, Integer.MAX_VALUE}) {
      Probability probability = new Probability(fixed);
      assertEquals(probability, Probability.parse(probability.toString()));
    }
    assertEquals(Probability.of(28976, 61744), Probability.parse("0.469292562840114"));
    for (String bad : List.of("", "0.", "1.0", "0.1x", "-0.5", "0.1234567890123456789")) {
      assertEquals(Probability.ALWAYS, Probability.parse(bad), bad);
    }
  }

  @Test
  void sourcesAndInterfacesScopeTheTranslationAlone() {
    assertEquals(
        """
        -A IP-MASQ-AGENT -d 10.0.0.0/8 -m comment --comment "LOCAL" -j RETURN
        -A IP-MASQ-AGENT -s 10.1.0.0/16 -o eth0 -m comment --comment "OUTBOUND" -j MASQUERADE --random-fully
        -A IP-MASQ-AGENT -s 10.1.0.0/16 -o wg+ -m comment --comment "OUTBOUND" -j MASQUERADE --random-fully
        -A IP-MASQ-AGENT -s 10.2.0.0/16 -o eth0 -m comment --comment "OUTBOUND" -j MASQUERADE --random-fully
        -A IP-MASQ-AGENT -s 10.2.0.0/16 -o wg+ -m comment --comment "OUTBOUND" -j MASQUERADE --random-fully
        """,
        rules(
            Policies.scoped(
                Policies.exempting("10.0.0.0/8"),
                List.of("10.1.0.0/16", "10.2.0.0/16"),
                List.of("eth0", "wg+"))));
  }

  @Test
  void exceptionsLeadToASecondChain() {
    assertEquals(
        """
        -A IP-MASQ-AGENT -d 10.1.2.0/24 -m comment --comment "LOCAL" -j RETURN
        -A IP-MASQ-AGENT -d 10.1.0.0/16 -m comment --comment "ip-masq-agent: traffic to this part of a local range is subject to MASQUERADE" -j IP-MASQ-AGENT-OUT
        -A IP-MASQ-AGENT -d 10.0.0.0/8 -m comment --comment "LOCAL" -j RETURN
        -A IP-MASQ-AGENT -m comment --comment "OUTBOUND" -j IP-MASQ-AGENT-OUT
        -A IP-MASQ-AGENT-OUT -o eth0 -m comment --comment "OUTBOUND" -j MASQUERADE --random-fully
        """,
        rules(
            Policies.scoped(
                Policies.exempting("10.1.2.0/24", "!10.1.0.0/16", "10.0.0.0/8"),
                List.of(),
                List.of("eth0"))));
  }

  @Test
  void addressesAreSourceNat() {
    assertEquals(
        """
        -A IP-MASQ-AGENT -p tcp -m comment --comment "OUTBOUND" -j SNAT --to-source 192.0.2.1-192.0.2.9:5000 --random-fully
        -A IP-MASQ-AGENT -p udp -m comment --comment "OUTBOUND" -j SNAT --to-source 192.0.2.1-192.0.2.9:5000 --random-fully
        -A IP-MASQ-AGENT -p sctp -m comment --comment "OUTBOUND" -j SNAT --to-source 192.0.2.1-192.0.2.9:5000 --random-fully
        -A IP-MASQ-AGENT -m comment --comment "OUTBOUND" -j SNAT --to-source 192.0.2.1-192.0.2.9 --random-fully
        """,
        rules(
            Policies.of(
                Family.IPV4, Policies.snat("192.0.2.1", "192.0.2.9", new PortRange(5000, 5000)))));
    assertEquals(
        """
        -A IP-MASQ-AGENT -p tcp -m comment --comment "OUTBOUND" -j SNAT --to-source [2001:db8::1]:1-9 --random-fully
        -A IP-MASQ-AGENT -p udp -m comment --comment "OUTBOUND" -j SNAT --to-source [2001:db8::1]:1-9 --random-fully
        -A IP-MASQ-AGENT -p sctp -m comment --comment "OUTBOUND" -j SNAT --to-source [2001:db8::1]:1-9 --random-fully
        -A IP-MASQ-AGENT -m comment --comment "OUTBOUND" -j SNAT --to-source 2001:db8::1 --random-fully
        """,
        rules(
            Policies.of(
                Family.IPV6, Policies.snat("2001:db8::1", "2001:db8::1", new PortRange(1, 9)))));
  }

  @Test
  void whatIsWrittenIsReadBack() {
    Random random = new Random(2);
    for (int i = 0; i < 3000; i++) {
      Policy policy = Policies.random(random);
      IptablesLayout written = IptablesLayout.of(policy, NAMES);
      IptablesLayout read =
          new IptablesLayout(reread(policy, written.main()), reread(policy, written.out()));
      assertEquals(written, read);
      assertEquals(Optional.of(policy), read.policy(policy.family(), NAMES));
    }
  }

  private static List<IptablesRule> reread(Policy policy, List<IptablesRule> rules) {
    return rules.stream()
        .map(
            rule ->
                IptablesRule.read(policy.family(), Listing.words(rule.toString())).orElseThrow())
        .toList();
  }

  @Test
  void whatLacksARuleOrHasOneTooManyIsNoPolicy() {
    Random random = new Random(3);
    for (int i = 0; i < 1000; i++) {
      Policy policy = Policies.random(random);
      IptablesLayout written = IptablesLayout.of(policy, NAMES);
      List<IptablesRule> main = new ArrayList<>(written.main());
      if (main.size() < 2) {
        continue;
      }
      IptablesRule last = main.removeLast();
      assertTrue(
          new IptablesLayout(main, List.of())
              .policy(policy.family(), NAMES)
              .filter(policy::equals)
              .isEmpty());
      main.add(last);
      main.add(last);
      assertTrue(new IptablesLayout(main, written.out()).policy(policy.family(), NAMES).isEmpty());
    }
  }

  @Test
  void namesFitTheKernel() {
    assertEquals("IP-MASQ-AGENT-OUT", NAMES.out());
    assertEquals("A".repeat(24) + "-OUT", ChainNames.of("A".repeat(28)).out());
    assertEquals("A".repeat(24) + "-VIA", ChainNames.of("A".repeat(24) + "-OUT").out());
    for (String bad : List.of("", "A".repeat(29), "-x", "!x", "MY CHAIN", "X\n-A Y", "a\"b")) {
      assertThrows(IllegalArgumentException.class, () -> ChainNames.of(bad), bad);
    }
  }
}
