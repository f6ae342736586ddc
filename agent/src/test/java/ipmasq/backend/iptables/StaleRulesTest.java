package ipmasq.backend.iptables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import ipmasq.testkit.Policies;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What former versions left goes, in the same restore; what others wrote stays. */
class StaleRulesTest {
  private static final Policy DEFAULTS = Policies.exempting("169.254.0.0/16", "10.0.0.0/8");
  private static final String ENSURE =
      "ensure nat POSTROUTING directs all non-LOCAL destination traffic to our custom ";

  private static void assertSwept(String expected, List<String> flaws, String remains) {
    assertSwept(Tables.NAMES, expected, flaws, remains);
  }

  private static void assertSwept(
      ChainNames names, String expected, List<String> flaws, String remains) {
    IptablesObserved found = Tables.found(names, Tables.DEFAULTS + remains);
    assertEquals(flaws, found.flaws());
    assertEquals(Tables.full(expected), RestoreInput.text(found, Optional.of(DEFAULTS), names));
  }

  /** A process that kept a chain of another name before. */
  private static final ChainNames RENAMED = ChainNames.of("IP-MASQ-AGENT", Set.of("MINE"), false);

  @Test
  void aJumpWithLiteralQuotes() {
    String jump =
        "-m comment --comment \"\\\"ip-masq-agent: %sIP-MASQ-AGENT chain\\\"\" -m addrtype !"
                .formatted(ENSURE)
            + " --dst-type LOCAL -j IP-MASQ-AGENT\n";
    assertSwept(
        "*nat\n-D POSTROUTING " + jump + "COMMIT\n",
        List.of("a jump from POSTROUTING worded by an older version"),
        "[9:9] -A POSTROUTING " + jump);
  }

  /** What is missing cannot be removed. */
  @Test
  void aRemovalNamesWhatIsThere() {
    String jump =
        "-A POSTROUTING -m comment --comment \"\\\"ip-masq-agent: %sIP-MASQ-AGENT chain\\\"\" -m"
                .formatted(ENSURE)
            + " addrtype ! --dst-type LOCAL -j IP-MASQ-AGENT\n";
    IptablesObserved found =
        Tables.found(":IP-MASQ-AGENT - [0:0]\n" + jump + "-A IP-MASQ-AGENT -p tcp -j ACCEPT\n");
    assertEquals(
        List.of(
            "-a rule that is not ours: -A IP-MASQ-AGENT -p tcp -j ACCEPT",
            "-a jump from POSTROUTING worded by an older version"),
        Plan.removal(found).changes().stream().map(Object::toString).toList());
  }

  @Test
  void aJumpThatLacksItsCheck() {
    String jump =
        "-m comment --comment \"ip-masq-agent: %sIP-MASQ-AGENT chain\" -j IP-MASQ-AGENT\n"
            .formatted(ENSURE);
    assertSwept(
        "*nat\n-D POSTROUTING " + jump + "COMMIT\n",
        List.of("a jump from POSTROUTING worded by an older version"),
        "[9:9] -A POSTROUTING " + jump);
  }

  @Test
  void theChainOfTheNodesBootstrap() {
    String jump =
        "-m comment --comment \"ip-masq: %sIP-MASQ chain\" -m addrtype ! --dst-type LOCAL -j"
                .formatted(ENSURE)
            + " IP-MASQ\n";
    assertSwept(
        "*nat\n:IP-MASQ - [0:0]\n-D POSTROUTING " + jump + "-X IP-MASQ\nCOMMIT\n",
        List.of(
            "a jump from POSTROUTING to chain IP-MASQ of the node's bootstrap",
            "chain IP-MASQ of the node's bootstrap"),
        """
        :IP-MASQ - [0:0]
        [0:0] -A POSTROUTING %s[0:0] -A IP-MASQ -d 10.0.0.0/8 -m comment --comment "ip-masq: RFC 1918 reserved range is not subject to MASQUERADE" -j RETURN
        [0:0] -A IP-MASQ -m comment --comment "ip-masq: outbound traffic is subject to MASQUERADE (must be last in chain)" -j MASQUERADE
        """
            .formatted(jump));
  }

  @Test
  void theFirstReleases() {
    String jump =
        "-m comment --comment \"non-masquerade-daemon: %sNON-MASQUERADE-DAEMON chain\" -m addrtype"
                .formatted(ENSURE)
            + " ! --dst-type LOCAL -j NON-MASQUERADE-DAEMON\n";
    assertSwept(
        "*nat\n:NON-MASQUERADE-DAEMON - [0:0]\n-D POSTROUTING "
            + jump
            + "-X NON-MASQUERADE-DAEMON\nCOMMIT\n",
        List.of(
            "a jump from POSTROUTING to chain NON-MASQUERADE-DAEMON of an older version",
            "chain NON-MASQUERADE-DAEMON of an older version"),
        """
        :NON-MASQUERADE-DAEMON - [0:0]
        [0:0] -A POSTROUTING %s[0:0] -A NON-MASQUERADE-DAEMON -d 10.0.0.0/8 -m comment --comment "non-masquerade-daemon: cluster-local traffic should not be subject to MASQUERADE" -m addrtype ! --dst-type LOCAL -j RETURN
        """
            .formatted(jump));
  }

  @Test
  void aChainThatWasRenamedAndItsSecondOne() {
    String jump =
        "-m comment --comment \"ip-masq-agent: %sMINE chain\" -m addrtype ! --dst-type LOCAL -j"
                .formatted(ENSURE)
            + " MINE\n";
    assertSwept(
        RENAMED,
        "*nat\n:MINE - [0:0]\n:MINE-OUT - [0:0]\n-D POSTROUTING "
            + jump
            + "-X MINE\n-X MINE-OUT\nCOMMIT\n",
        List.of(
            "a jump from POSTROUTING to chain MINE, a former name of ours",
            "chain MINE, a former name of ours",
            "chain MINE-OUT, a former name of ours"),
        """
        :MINE - [0:0]
        :MINE-OUT - [0:0]
        [0:0] -A POSTROUTING %s[0:0] -A MINE -m comment --comment "OUTBOUND" -j MINE-OUT
        [0:0] -A MINE-OUT -m comment --comment "OUTBOUND" -j MASQUERADE
        """
            .formatted(jump));
  }

  @Test
  void anOldChainWithSomebodysRuleStaysButLosesItsJump() {
    String jump =
        "-m comment --comment \"ip-masq-agent: %sMINE chain\" -m addrtype ! --dst-type LOCAL -j"
                .formatted(ENSURE)
            + " MINE\n";
    assertSwept(
        RENAMED,
        "*nat\n-D POSTROUTING " + jump + "COMMIT\n",
        List.of("a jump from POSTROUTING to chain MINE, a former name of ours"),
        """
        :MINE - [0:0]
        :MINE-OUT - [0:0]
        [0:0] -A POSTROUTING %s[0:0] -A MINE -m comment --comment "OUTBOUND" -j MINE-OUT
        [0:0] -A MINE -p tcp -j ACCEPT
        [0:0] -A MINE-OUT -m comment --comment "OUTBOUND" -j MASQUERADE
        """
            .formatted(jump));
  }

  @Test
  void aChainOfANameThatWeNeverHadIsAnotherAgents() {
    String theirs =
        """
        :MINE - [0:0]
        [0:0] -A POSTROUTING -m comment --comment "ip-masq-agent: %sMINE chain" -m addrtype ! --dst-type LOCAL -j MINE
        [0:0] -A MINE -m comment --comment "OUTBOUND" -j MASQUERADE
        """
            .formatted(ENSURE);
    IptablesObserved found = Tables.found(Tables.DEFAULTS + theirs);
    assertEquals(List.of(), found.flaws());
    assertTrue(found.remarks().getFirst().startsWith("chain MINE is another ip-masq-agent's, or"));
    assertFalse(RestoreInput.text(found, Optional.empty(), Tables.NAMES).contains("MINE"));
    // Whoever cleans up without a name means all of them.
    ChainNames all = ChainNames.of("IP-MASQ-AGENT", Set.of(), true);
    String removal =
        RestoreInput.text(Tables.found(all, Tables.DEFAULTS + theirs), Optional.empty(), all);
    assertTrue(removal.contains("-X MINE\n"), removal);
  }

  @Test
  void anOldChainThatSomebodyLeadsToStays() {
    IptablesObserved found =
        Tables.found(
            RENAMED,
            Tables.DEFAULTS
                + """
                :MINE - [0:0]
                [0:0] -A OUTPUT -g MINE
                [0:0] -A MINE -m comment --comment "OUTBOUND" -j MASQUERADE
                """);
    assertTrue(found.stale().isEmpty());
    assertEquals(List.of(), found.flaws());
  }

  @Test
  void emptyChainsOfOursGo() {
    assertSwept(
        "*nat\n:NON-MASQUERADE-DAEMON - [0:0]\n-X NON-MASQUERADE-DAEMON\nCOMMIT\n",
        List.of("chain NON-MASQUERADE-DAEMON of an older version"),
        ":NON-MASQUERADE-DAEMON - [0:0]\n:SOMEBODYS - [0:0]\n");
  }

  @Test
  void removalTakesTheRemainsToo() {
    IptablesObserved found = Tables.found(":IP-MASQ - [0:0]\n");
    assertEquals(
        "*nat\n:IP-MASQ - [0:0]\n-X IP-MASQ\nCOMMIT\n",
        RestoreInput.text(found, Optional.empty(), Tables.NAMES));
  }
}
