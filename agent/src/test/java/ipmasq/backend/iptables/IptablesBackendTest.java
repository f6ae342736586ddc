package ipmasq.backend.iptables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.backend.iptables.NatTable.NatChain;
import ipmasq.iptables.Commands.CommandResult;
import ipmasq.iptables.LegacyTables.Presence;
import ipmasq.iptables.Programs;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.plan.Tally;
import ipmasq.plan.Tally.Counter;
import ipmasq.policy.Policy;
import ipmasq.testkit.Policies;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The backend with programs that hang, fail and print nonsense. */
class IptablesBackendTest {
  private static final Policy DEFAULTS = Policies.exempting("169.254.0.0/16", "10.0.0.0/8");
  private static final Programs NOTHING = new Programs("/nonexistent");

  private final ScriptedCommands commands = new ScriptedCommands();
  private final FakeNat nft = new FakeNat();
  private final IptablesBackend iptables =
      new IptablesBackend(
          Tables.NAMES,
          new VariantProbe(NOTHING, (family, table) -> Presence.NOT_THERE, commands),
          nft);

  private Observed seen() {
    return assertInstanceOf(Observation.Seen.class, iptables.observe(Family.IPV4)).observed();
  }

  private Failure unseen(Family family) {
    return assertInstanceOf(Observation.Unseen.class, iptables.observe(family)).failure();
  }

  private Failure unusable() {
    return assertInstanceOf(Observation.Unusable.class, iptables.observe(Family.IPV4)).failure();
  }

  @Test
  void oneLookAndOneRestore() {
    commands.prints(Tables.table("")).prints("");
    Plan plan = Plan.toward(DEFAULTS, seen());
    assertEquals(new Outcome.Applied(), iptables.apply(plan));
    assertEquals(
        List.of("iptables-save -c -t nat", "iptables-restore --noflush --counters -w 5"),
        commands.asked);
    assertTrue(commands.inputs.getLast().startsWith("*nat\n:IP-MASQ-AGENT - [0:0]\n"));
    assertEquals("iptables-nft", iptables.name());
    assertEquals("", iptables.details());
  }

  @Test
  void nothingIsRunWhenNothingDiffers() {
    commands.prints(Tables.table(Tables.DEFAULTS));
    Plan plan = Plan.toward(iptables.normalize(DEFAULTS), seen());
    assertTrue(plan.isEmpty());
    assertEquals(new Outcome.Applied(), iptables.apply(plan));
    assertEquals(1, commands.asked.size());
  }

  @Test
  void aMissingProgram() {
    commands.ends(new CommandResult.Missing("/bin:/sbin"));
    assertEquals(
        "iptables-save was not found on PATH (/bin:/sbin): install iptables, or have the agent"
            + " write nftables itself (backend nftables)",
        unseen(Family.IPV4).toString());
    commands.prints(Tables.table(Tables.DEFAULTS));
    assertFalse(seen().absent());
  }

  @Test
  void aProgramThatHangs() {
    commands.ends(new CommandResult.Overran(Duration.ofSeconds(30), ""));
    assertEquals("iptables-save did not end within 30 s", unseen(Family.IPV4).message());
  }

  @Test
  void noCapability() {
    commands.fails(
        4,
        "iptables-nft-save v1.8.9 (nf_tables): Could not fetch rule set generation id: Permission"
            + " denied (you must be root)");
    Failure failure = unseen(Family.IPV4);
    assertTrue(failure.message().contains("Permission denied"), failure.message());
    assertTrue(failure.advice().contains("NET_ADMIN"), failure.advice());
  }

  @Test
  void noNatTableForIpv6() {
    commands.fails(
        3,
        "ip6tables-save v1.8.9 (legacy): Cannot initialize: Table does not exist (do you need to"
            + " insmod?)");
    assertTrue(unseen(Family.IPV6).advice().contains("turn IPv6 off"));
  }

  @Test
  void nonsenseAndHalfATextAreNotBelieved() {
    commands.prints("Segmentation fault").prints("*nat\n:IP-MASQ-AGENT - [0:0]\n");
    assertEquals(
        "what iptables-save printed cannot be used: a line outside of the table: Segmentation"
            + " fault",
        unseen(Family.IPV4).message());
    assertEquals(
        "what iptables-save printed cannot be used: it ends before COMMIT",
        unseen(Family.IPV4).message());
  }

  @Test
  void anIncompatibleTable() {
    commands.prints("# Table `nat' is incompatible, use 'nft' tool.\n");
    assertTrue(unseen(Family.IPV6).advice().contains("into table ip6 nat: "));
  }

  @Test
  void aLostRaceIsToldOnceAndThenIsAFailure() {
    commands.prints(Tables.table(Tables.DEFAULTS + "[0:0] -A POSTROUTING JUMP\n"));
    String gone =
        "iptables-nft-restore: line 2 failed: Bad rule (does a matching rule exist in that"
            + " chain?).";
    commands.fails(1, gone).fails(1, gone);
    Plan plan = Plan.toward(DEFAULTS, seen());
    assertInstanceOf(Outcome.Retry.class, iptables.apply(plan));
    assertInstanceOf(Outcome.Refused.class, iptables.apply(plan));
  }

  @Test
  void legacySaysOnlyWhichLine() {
    commands.prints(Tables.table(Tables.DEFAULTS + "[0:0] -A POSTROUTING JUMP\n"));
    commands.fails(1, "iptables-restore: line 2 failed");
    assertInstanceOf(Outcome.Retry.class, iptables.apply(Plan.toward(DEFAULTS, seen())));
  }

  @Test
  void aLineThatAddsIsNoRace() {
    commands.prints(Tables.table("")).fails(1, "iptables-restore: line 3 failed");
    assertInstanceOf(Outcome.Refused.class, iptables.apply(Plan.toward(DEFAULTS, seen())));
  }

  @Test
  void aHeldLockIsNoRace() {
    commands
        .prints(Tables.table(""))
        .fails(
            4,
            """
            Can't lock /run/xtables.lock: Resource temporarily unavailable
            Another app is currently holding the xtables lock. Stopped waiting after 5s.
            """);
    Outcome outcome = iptables.apply(Plan.toward(DEFAULTS, seen()));
    Failure failure = assertInstanceOf(Outcome.Refused.class, outcome).failure();
    assertTrue(failure.message().contains("Stopped waiting after 5s"), failure.message());
    assertTrue(failure.advice().contains("/run/xtables.lock"), failure.advice());
  }

  @Test
  void anySourceIsNone() {
    Policy policy = Policies.scoped(DEFAULTS, List.of("10.0.0.0/8", "0.0.0.0/0"), List.of("+"));
    assertEquals(DEFAULTS, iptables.normalize(policy));
    Policy twice = Policies.scoped(DEFAULTS, List.of(), List.of("eth0", "eth0"));
    assertEquals(List.of("eth0"), iptables.normalize(twice).interfaces());
  }

  private static final String POSTROUTING =
      Tables.full("-P POSTROUTING ACCEPT\n-A POSTROUTING -j ACCEPT\n-A POSTROUTING JUMP\n");
  private static final String OURS =
      Tables.full(
          """
          -N IP-MASQ-AGENT
          -A IP-MASQ-AGENT -d 169.254.0.0/16 -m comment --comment "LOCAL" -j RETURN
          -A IP-MASQ-AGENT -d 10.0.0.0/8 -m comment --comment "LOCAL" -c 3 180 -j RETURN
          -A IP-MASQ-AGENT -m comment --comment "OUTBOUND" -c 7 420 -j MASQUERADE --random-fully
          """);

  /** An iptables that has said once that it is the one over nf_tables. */
  private void isNft() {
    commands.prints(Tables.table(Tables.DEFAULTS));
    seen();
    commands.asked.clear();
  }

  @Test
  void onlyOurChainsAndPostroutingAreListed() {
    isNft();
    nft.chains.put("IP-MASQ-AGENT", new NatChain.There(3, 1));
    nft.chains.put("POSTROUTING", new NatChain.There(2, 0));
    commands.prints(OURS).prints(POSTROUTING);
    Observed listed = seen();
    assertTrue(Plan.toward(DEFAULTS, listed).isEmpty());
    Tally tally = listed.tally().orElseThrow();
    assertEquals(new Counter(3, 180), tally.ranges().get(Cidr.of("10.0.0.0/8")));
    assertEquals(new Counter(7, 420), tally.translated());
    assertEquals(
        List.of("iptables -t nat -v -S IP-MASQ-AGENT", "iptables -t nat -v -S POSTROUTING"),
        commands.asked);
  }

  @Test
  void withoutAChainOfOursNoProgramIsRun() {
    isNft();
    nft.chains.put("POSTROUTING", new NatChain.There(70_000, 0));
    assertTrue(seen().absent());
    assertEquals(List.of(), commands.asked);
  }

  @Test
  void aChangeKeepsCounters() {
    isNft();
    nft.chains.put("IP-MASQ-AGENT", new NatChain.There(3, 1));
    nft.chains.put("POSTROUTING", new NatChain.There(2, 0));
    commands.prints(OURS).prints(POSTROUTING).prints("");
    Plan plan = Plan.toward(Policies.exempting("10.0.0.0/8"), seen());
    assertEquals(new Outcome.Applied(), iptables.apply(plan));
    assertTrue(commands.inputs.getLast().contains("[3:180] -A IP-MASQ-AGENT -d 10.0.0.0/8"));
  }

  @Test
  void aChainThatGoesWhileItIsListedIsLookedForAgain() {
    isNft();
    nft.chains.put("IP-MASQ-AGENT", new NatChain.There(3, 1));
    nft.vanishes = "IP-MASQ-AGENT";
    commands.fails(4, "iptables v1.8.9 (nf_tables): table `nat' is incompatible, use 'nft' tool.");
    assertTrue(seen().absent());
  }

  @Test
  void halfOfWhatStandsThereIsNotBelieved() {
    isNft();
    nft.chains.put("IP-MASQ-AGENT", new NatChain.There(3, 1));
    nft.chains.put("POSTROUTING", new NatChain.There(2, 0));
    for (int look = 0; look < 3; look++) {
      commands.prints(OURS.substring(0, OURS.length() / 2)).prints(POSTROUTING);
    }
    assertTrue(unseen(Family.IPV4).message().endsWith("printed, and the kernel has 3"));
  }

  @Test
  void aChainOfOurNameWithNothingOfOursIsSomebodyElses() {
    isNft();
    nft.chains.put("IP-MASQ-AGENT", new NatChain.There(1, 0));
    nft.chains.put("POSTROUTING", new NatChain.There(1, 0));
    commands
        .prints("-N IP-MASQ-AGENT\n-A IP-MASQ-AGENT -p tcp -j ACCEPT\n")
        .prints("-P POSTROUTING ACCEPT\n-A POSTROUTING -j MASQUERADE\n");
    assertTrue(unusable().message().contains("holds another program's rules"));
  }

  @Test
  void aDormantTableIsSaid() {
    isNft();
    nft.chains.put("IP-MASQ-AGENT", new NatChain.There(3, 1));
    nft.chains.put("POSTROUTING", new NatChain.There(2, 0));
    nft.dormant = true;
    commands.prints(OURS).prints(POSTROUTING);
    assertTrue(unusable().message().startsWith("table ip nat is dormant"));
  }

  @Test
  void whatCannotBeListedIsKnownByItsName() {
    isNft();
    nft.chains.put("IP-MASQ-AGENT", new NatChain.There(3, 1));
    nft.chains.put("IP-MASQ-AGENT-OUT", new NatChain.There(2, 1));
    nft.chains.put("IP-MASQ", new NatChain.There(0, 0));
    commands.fails(1, "chain `POSTROUTING' in table `nat' is incompatible, use 'nft' tool.");
    assertTrue(unseen(Family.IPV4).advice().contains("or set backend: nftables"));
    isNft();
    assertEquals(
        List.of(
            "chains IP-MASQ-AGENT, IP-MASQ-AGENT-OUT in table ip nat (in use) can neither be listed"
                + " nor removed by iptables here; unless another agent keeps them, remove them by"
                + " hand: nft -a list chain ip nat POSTROUTING (shows the jump's handle N); nft"
                + " delete rule ip nat POSTROUTING handle N; nft flush chain ip nat IP-MASQ-AGENT;"
                + " nft flush chain ip nat IP-MASQ-AGENT-OUT; nft delete chain ip nat"
                + " IP-MASQ-AGENT; nft delete chain ip nat IP-MASQ-AGENT-OUT"),
        iptables.unreadRemains(Family.IPV4));
  }

  /** The chains in nf_tables are no matter of the legacy iptables. */
  @Test
  void whatLegacyCannotListIsNotInNfTables() {
    isNft();
    nft.chains.put("IP-MASQ-AGENT", new NatChain.There(3, 1));
    assertEquals(List.of(), iptables.other().unreadRemains(Family.IPV4));
  }

  @Test
  void whatTheKernelCannotHoldLasts() {
    commands
        .prints(Tables.table(""))
        .fails(
            4,
            """
            Warning: Extension addrtype revision 0 not supported, missing kernel module?
            iptables-nft-restore v1.8.9 (nf_tables): line 7: RULE_APPEND failed (No such file or directory): rule in chain IP-MASQ-AGENT
            """);
    Outcome outcome = iptables.apply(Plan.toward(DEFAULTS, seen()));
    assertTrue(assertInstanceOf(Outcome.Refused.class, outcome).failure().lasting());
  }

  /** What the other kind's program writes would be swept as that one's leftovers. */
  @Test
  void programsOfBothKindsAreNotUsed(@TempDir Path bin) throws IOException {
    for (String kind : List.of("nft", "legacy")) {
      Path multi = Files.createFile(bin.resolve("xtables-" + kind + "-multi"));
      assertTrue(multi.toFile().setExecutable(true));
    }
    Files.createSymbolicLink(bin.resolve("iptables-save"), Path.of("xtables-nft-multi"));
    Files.createSymbolicLink(bin.resolve("iptables-restore"), Path.of("xtables-legacy-multi"));
    IptablesBackend mixed =
        new IptablesBackend(
            Tables.NAMES,
            new VariantProbe(
                new Programs(bin.toString()), (family, table) -> Presence.NOT_THERE, commands),
            nft);
    Observed seen = assertInstanceOf(Observation.Seen.class, mixed.observe(Family.IPV4)).observed();
    Outcome outcome = mixed.apply(Plan.toward(DEFAULTS, seen));
    assertEquals(
        "iptables-restore is iptables-legacy, but the rules are read by iptables-nft; nothing was"
            + " done",
        assertInstanceOf(Outcome.Refused.class, outcome).failure().message());
    assertEquals(List.of(), commands.asked);
  }
}
