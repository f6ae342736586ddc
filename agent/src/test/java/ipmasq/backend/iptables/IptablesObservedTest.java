package ipmasq.backend.iptables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Family;
import ipmasq.testkit.Policies;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What of the nat table is ours, and what is wrong with it. */
class IptablesObservedTest {
  @Test
  void aTableOfOthersHoldsNothing() {
    IptablesObserved found =
        Tables.found(
            """
            :KIND-MASQ-AGENT - [0:0]
            [0:0] -A POSTROUTING -m comment --comment "kind-masq-agent: ensure nat POSTROUTING directs all non-LOCAL destination traffic to our custom KIND-MASQ-AGENT chain" -m addrtype ! --dst-type LOCAL -j KIND-MASQ-AGENT
            [0:0] -A POSTROUTING -s 10.0.0.0/8 -j MASQUERADE
            [0:0] -A KIND-MASQ-AGENT -d 10.0.0.0/8 -m comment --comment "kind-masq-agent: local traffic is not subject to MASQUERADE" -j RETURN
            """);
    assertTrue(found.absent());
    assertEquals(List.of(), found.flaws());
    assertEquals(Optional.empty(), found.policy());
  }

  @Test
  void whatIsAsItShouldBeHasNoFlaws() {
    IptablesObserved found = Tables.found(Tables.DEFAULTS);
    assertEquals(List.of(), found.flaws());
    assertEquals(Optional.of(Policies.exempting("169.254.0.0/16", "10.0.0.0/8")), found.policy());
    assertFalse(found.absent());
  }

  @Test
  void addressesAreComparedByValue() {
    IptablesObserved found =
        Tables.found(
            Family.IPV6,
            """
            :IP-MASQ-AGENT - [0:0]
            [0:0] -A POSTROUTING JUMP
            [0:0] -A IP-MASQ-AGENT -d ::10.0.0.0/104 -m comment --comment "LOCAL" -j RETURN
            [0:0] -A IP-MASQ-AGENT -m comment --comment "OUTBOUND" -j MASQUERADE --random-fully
            """);
    assertEquals(Optional.of(Policies.exempting("::a00:0/104")), found.policy());
  }

  @Test
  void aMissingJump() {
    IptablesObserved found =
        Tables.found(Tables.DEFAULTS.replace("[3:180] -A POSTROUTING JUMP\n", ""));
    assertEquals(List.of("the jump from POSTROUTING is missing"), found.flaws());
    assertTrue(found.policy().isPresent());
  }

  @Test
  void aJumpTwice() {
    IptablesObserved found =
        Tables.found(
            Tables.DEFAULTS.replace(
                "[3:180] -A POSTROUTING JUMP\n",
                "[0:0] -A POSTROUTING JUMP\n[3:180] -A POSTROUTING JUMP\n"));
    assertEquals(List.of("the jump from POSTROUTING is there twice"), found.flaws());
  }

  @Test
  void anEmptyChain() {
    IptablesObserved found = Tables.found(":IP-MASQ-AGENT - [0:0]\n[0:0] -A POSTROUTING JUMP\n");
    assertEquals(List.of("chain IP-MASQ-AGENT is empty"), found.flaws());
    assertFalse(found.absent());
  }

  @Test
  void aForeignRuleInOurChain() {
    IptablesObserved found =
        Tables.found(Tables.DEFAULTS + "[0:0] -A IP-MASQ-AGENT -p tcp -j ACCEPT\n");
    assertEquals(
        List.of("a rule that is not ours: -A IP-MASQ-AGENT -p tcp -j ACCEPT"), found.flaws());
    assertEquals(Optional.empty(), found.policy());
  }

  @Test
  void manyForeignRulesAreCounted() {
    IptablesObserved found =
        Tables.found(Tables.DEFAULTS + "[0:0] -A IP-MASQ-AGENT -p tcp -j ACCEPT\n".repeat(8));
    assertEquals(6, found.flaws().size());
    assertEquals("3 more rules that are not ours", found.flaws().getLast());
  }

  @Test
  void rulesOutOfOrder() {
    IptablesObserved found =
        Tables.found(
            """
            :IP-MASQ-AGENT - [0:0]
            [0:0] -A POSTROUTING JUMP
            [0:0] -A IP-MASQ-AGENT -m comment --comment "OUTBOUND" -j MASQUERADE --random-fully
            [0:0] -A IP-MASQ-AGENT -d 10.0.0.0/8 -m comment --comment "LOCAL" -j RETURN
            """);
    assertEquals(
        List.of("the rules of chain IP-MASQ-AGENT are incomplete or out of order"), found.flaws());
  }

  @Test
  void rulesOfAnOlderVersionAreReadAllTheSame() {
    IptablesObserved found =
        Tables.found(
            """
            :IP-MASQ-AGENT - [0:0]
            [0:0] -A POSTROUTING JUMP
            [0:0] -A IP-MASQ-AGENT -d 169.254.0.0/16 -m comment --comment "ip-masq-agent: cluster-local traffic should not be subject to MASQUERADE" -m addrtype ! --dst-type LOCAL -j RETURN
            [0:0] -A IP-MASQ-AGENT -d 10.0.0.0/8 -m comment --comment "ip-masq-agent: cluster-local traffic should not be subject to MASQUERADE" -m addrtype ! --dst-type LOCAL -j RETURN
            [0:0] -A IP-MASQ-AGENT -m comment --comment "ip-masq-agent: outbound traffic should be subject to MASQUERADE (this match must come after cluster-local CIDR matches)" -m addrtype ! --dst-type LOCAL -j MASQUERADE
            """);
    assertEquals(List.of("rules worded by an older version"), found.flaws());
    assertEquals(
        List.of("169.254.0.0/16", "10.0.0.0/8"),
        found.policy().orElseThrow().destinations().stream()
            .map(d -> d.range().toString())
            .toList());
  }

  @Test
  void aChainThatSomebodyElseUsesAndWeEmptiedIsNotOursAnyMore() {
    IptablesObserved found =
        Tables.found(":IP-MASQ-AGENT - [0:0]\n[0:0] -A OUTPUT -j IP-MASQ-AGENT\n");
    assertTrue(found.absent());
  }
}
