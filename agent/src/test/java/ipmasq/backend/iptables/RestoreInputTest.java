package ipmasq.backend.iptables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.policy.Policy;
import ipmasq.testkit.Policies;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;

/** The text that leads from what stands to what should. */
class RestoreInputTest {
  private static final Policy DEFAULTS = Policies.exempting("169.254.0.0/16", "10.0.0.0/8");

  private static void assertRestore(String expected, String before, Policy desired) {
    assertEquals(
        Tables.full(expected),
        RestoreInput.text(Tables.found(before), Optional.of(desired), Tables.NAMES));
  }

  private static void assertRemoval(String expected, String before) {
    assertEquals(
        Tables.full(expected),
        RestoreInput.text(Tables.found(before), Optional.empty(), Tables.NAMES));
  }

  @Test
  void firstInstallCarriesChainRulesAndJump() {
    assertRestore(
        """
        *nat
        :IP-MASQ-AGENT - [0:0]
        -A IP-MASQ-AGENT -d 169.254.0.0/16 -m comment --comment "LOCAL" -j RETURN
        -A IP-MASQ-AGENT -d 10.0.0.0/8 -m comment --comment "LOCAL" -j RETURN
        -A IP-MASQ-AGENT -m comment --comment "OUTBOUND" -j MASQUERADE --random-fully
        -A POSTROUTING JUMP
        COMMIT
        """,
        "",
        DEFAULTS);
  }

  @Test
  void nothingToDoIsNoText() {
    assertRestore("", Tables.DEFAULTS, DEFAULTS);
    assertRemoval("", "");
  }

  @Test
  void rulesThatStayKeepTheirCountersAndTheJumpIsLeftAlone() {
    assertRestore(
        """
        *nat
        :IP-MASQ-AGENT - [0:0]
        [5:500] -A IP-MASQ-AGENT -d 169.254.0.0/16 -m comment --comment "LOCAL" -j RETURN
        -A IP-MASQ-AGENT -d 192.0.2.0/24 -m comment --comment "LOCAL" -j RETURN
        [7:700] -A IP-MASQ-AGENT -m comment --comment "OUTBOUND" -j MASQUERADE --random-fully
        COMMIT
        """,
        Tables.DEFAULTS,
        Policies.exempting("169.254.0.0/16", "192.0.2.0/24"));
  }

  @Test
  void aMissingJumpIsAllThatIsWritten() {
    assertRestore(
        """
        *nat
        -A POSTROUTING JUMP
        COMMIT
        """,
        Tables.DEFAULTS.replace("[3:180] -A POSTROUTING JUMP\n", ""),
        DEFAULTS);
  }

  @Test
  void ofTwoJumpsOneGoes() {
    assertRestore(
        """
        *nat
        -D POSTROUTING JUMP
        COMMIT
        """,
        Tables.DEFAULTS + "[0:0] -A POSTROUTING JUMP\n",
        DEFAULTS);
  }

  @Test
  void theSecondChainComesAndGoesWithTheExceptions() {
    String with =
        """
        :IP-MASQ-AGENT - [0:0]
        :IP-MASQ-AGENT-OUT - [0:0]
        [3:180] -A POSTROUTING JUMP
        [1:1] -A IP-MASQ-AGENT -d 10.1.0.0/16 -m comment --comment "EXCEPTION" -j IP-MASQ-AGENT-OUT
        [2:2] -A IP-MASQ-AGENT -d 10.0.0.0/8 -m comment --comment "LOCAL" -j RETURN
        [3:3] -A IP-MASQ-AGENT -m comment --comment "OUTBOUND" -j IP-MASQ-AGENT-OUT
        [4:4] -A IP-MASQ-AGENT-OUT -m comment --comment "OUTBOUND" -j MASQUERADE --random-fully
        """
            .replace("EXCEPTION", RuleComments.EXCEPTION);
    Policy policy = Policies.exempting("!10.1.0.0/16", "10.0.0.0/8");
    assertEquals(Optional.of(policy), Tables.found(with).policy());
    assertRestore("", with, policy);
    assertRestore(
        """
        *nat
        :IP-MASQ-AGENT - [0:0]
        :IP-MASQ-AGENT-OUT - [0:0]
        [2:2] -A IP-MASQ-AGENT -d 10.0.0.0/8 -m comment --comment "LOCAL" -j RETURN
        [4:4] -A IP-MASQ-AGENT -m comment --comment "OUTBOUND" -j MASQUERADE --random-fully
        -X IP-MASQ-AGENT-OUT
        COMMIT
        """,
        with,
        Policies.exempting("10.0.0.0/8"));
  }

  @Test
  void removalTakesJumpAndChain() {
    assertRemoval(
        """
        *nat
        :IP-MASQ-AGENT - [0:0]
        -D POSTROUTING JUMP
        -X IP-MASQ-AGENT
        COMMIT
        """,
        Tables.DEFAULTS);
  }

  @Test
  void aChainThatSomebodyElseUsesIsOnlyEmptied() {
    assertRemoval(
        """
        *nat
        :IP-MASQ-AGENT - [0:0]
        -D POSTROUTING JUMP
        COMMIT
        """,
        Tables.DEFAULTS + "[0:0] -A OUTPUT -j IP-MASQ-AGENT\n");
  }

  @Test
  void tenThousandsOfRangesTakeNoTimeToSpeakOf() {
    List<String> ranges = new ArrayList<>();
    StringBuilder before = new StringBuilder(":IP-MASQ-AGENT - [0:0]\n[0:0] -A POSTROUTING JUMP\n");
    for (int i = 0; i < 20_000; i++) {
      String range = "10." + (i >> 8) + "." + (i & 255) + ".0/24";
      ranges.add(range);
      before
          .append("[1:1] -A IP-MASQ-AGENT -d ")
          .append(range)
          .append(" -m comment --comment \"LOCAL\" -j RETURN\n");
    }
    before.append("[1:1] -A IP-MASQ-AGENT -m comment --comment \"OUTBOUND\" -j MASQUERADE\n");
    Assertions.assertTimeout(
        Duration.ofSeconds(20),
        () -> {
          IptablesObserved found = Tables.found(before.toString());
          assertTrue(found.policy().isPresent());
          String restore =
              RestoreInput.text(
                  found,
                  Optional.of(Policies.exempting(ranges.reversed().toArray(String[]::new))),
                  Tables.NAMES);
          assertEquals(20_004, restore.lines().count());
        });
  }
}
