package ipmasq.backend.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Failure;
import ipmasq.backend.Outcome;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.netlink.Answer;
import ipmasq.netlink.Errno;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.nftables.Commit;
import ipmasq.netlink.nftables.Nftables;
import ipmasq.netlink.nftables.Rule;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.sync.Enforcement;
import ipmasq.sync.SyncReport.Result;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Policies;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The backend against a real kernel: what it writes, and what it does not. */
@KernelTest
@Tag("listing")
class NftablesBackendKernelTest {
  private static final Policy DEFAULTS =
      Policies.exempting("169.254.0.0/16", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16");

  private Namespace namespace;
  private Node node;

  @BeforeEach
  void open() {
    namespace = Namespace.open("nftables");
    node = new Node(namespace, true);
  }

  @AfterEach
  void close() {
    node.close();
    namespace.close();
  }

  @Test
  void everyKindOfPolicyIsReadBack() {
    Random random = new Random(7);
    for (int i = 0; i < 60; i++) {
      node.sync(NftablesLayoutTest.generated(random));
    }
  }

  @Test
  void neighboursNestedAndTheWholeSpace() {
    node.sync(Policies.exempting("10.0.0.0/9", "10.128.0.0/9", "11.0.0.0/32", "11.0.0.1/32"));
    node.sync(Policies.exempting("10.128.0.0/9", "11.0.0.1/32", "10.0.0.0/10"));
    node.sync(Policies.exempting("0.0.0.0/0"));
    node.sync(Policies.exempting("0.0.0.0/1", "128.0.0.0/1"));
    node.sync(Policies.exempting("255.255.255.255/32", "0.0.0.0/32"));
    node.sync(Policies.exempting("!10.1.0.0/16", "10.0.0.0/8", "!0.0.0.0/0", "10.1.1.0/24"));
    node.sync(Policies.exempting());
  }

  @Test
  void aRangeGrowsAndShrinksInOneStep() {
    node.sync(Policies.exempting("10.0.0.0/16", "10.8.0.0/13"));
    Plan plan = node.sync(Policies.exempting("10.0.0.0/15", "10.8.0.0/14"));
    assertEquals(
        "[-10.0.0.0/16, -10.8.0.0/13, +10.0.0.0/15, +10.8.0.0/14]", plan.changes().toString());
    node.sync(Policies.exempting("10.0.0.0/8"));
    node.sync(Policies.exempting("10.0.0.0/16", "10.1.0.0/16", "10.255.0.0/16"));
  }

  @Test
  void theFirstInstallFillsTheSetBeforeAnyRuleUsesIt() throws Exception {
    Plan plan = node.plan(DEFAULTS);
    NftablesObserved observed = assertInstanceOf(NftablesObserved.class, plan.observed());
    namespace.call(
        () -> {
          try (NftablesClient kernel = new NftablesClient()) {
            TableUpdate update = TableUpdate.toward(DEFAULTS.disjoint(), observed, true, unowned());
            assertEquals(new Commit.Committed(), kernel.commit(update.first()));
            String half = node.listed();
            assertTrue(half.contains("192.168.0.0/16") && !half.contains("chain"), half);
            assertEquals(new Commit.Committed(), kernel.commit(update.second()));
            assertTrue(node.listed().contains("ip daddr @exempt4"));
          }
          return null;
        });
  }

  private static KernelFeatures unowned() {
    return KernelFeatures.ELEMENT_COUNTERS;
  }

  @Test
  void nothingIsWrittenWhereNothingDiffers() throws Exception {
    node.sync(DEFAULTS);
    String generation = generation();
    assertTrue(node.plan(DEFAULTS).isEmpty());
    assertEquals(generation, generation());
  }

  private String generation() throws Exception {
    return namespace.call(
        () -> {
          try (NftablesClient kernel = new NftablesClient()) {
            return kernel.generation().toString();
          }
        });
  }

  @Test
  void aChangeLeavesRulesAndOtherRangesAsTheyAre() throws Exception {
    node.sync(DEFAULTS);
    List<Long> handles = handles();
    node.sync(Policies.exempting("10.0.0.0/8", "198.18.0.0/15", "192.168.0.0/16"));
    assertEquals(handles, handles());
  }

  private List<Long> handles() throws Exception {
    return namespace.call(
        () -> {
          try (Nftables nftables = Nftables.open()) {
            return nftables.rules(TableNames.chain(Family.IPV4))
                    instanceof Answer.Given<List<Rule>>(var rules)
                ? rules.stream().map(Rule::handle).toList()
                : List.of();
          }
        });
  }

  @Test
  void aForeignRuleInOurTableThatUsesOursIsSaidAndNoLostRace() {
    try (Node open = new Node(namespace, false)) {
      open.sync(DEFAULTS);
      open.sync(Policies.exempting("fe80::/10"));
      String table = "inet ip-masq-agent";
      String set = TableNames.exempt(Family.IPV4).name();
      open.others(
          "add chain %1$s theirs\nadd rule %1$s theirs ip daddr @%2$s accept\n"
              .formatted(table, set));
      Outcome outcome = open.apply(Plan.removal(open.observe(Family.IPV4)));
      Failure failure = assertInstanceOf(Outcome.Refused.class, outcome).failure();
      assertTrue(failure.message().endsWith("something of ours is in use"), failure.message());
      open.others("delete chain %1$s theirs".formatted(table));
      open.remove(Family.IPV4);
    }
  }

  @Test
  void oneRangeMoreAmongAHundredThousandIsOneElement() {
    List<Destination> many = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      Ip network = new Ip(Family.IPV4, 0, (20L << 24) + i * 256L);
      many.add(new Destination(new Cidr(network, 25), Treatment.EXEMPT));
    }
    Policy before = policy(many);
    assertEquals(100_001, node.sync(before).changes().size());
    many.add(77_777, new Destination(Cidr.of("200.1.2.0/24"), Treatment.EXEMPT));
    Plan plan = node.plan(policy(many));
    assertEquals("[+200.1.2.0/24]", plan.changes().toString());
    NftablesObserved observed = assertInstanceOf(NftablesObserved.class, plan.observed());
    TableUpdate update =
        TableUpdate.toward(plan.desired().orElseThrow(), observed, false, unowned());
    assertTrue(update.first().isEmpty());
    assertTrue(update.second().size() < 300, "bytes: " + update.second().size());
    node.sync(policy(many));
    node.restart();
    assertEquals("[~the table has no owner]", node.plan(policy(many)).changes().toString());
    node.sync(policy(many.subList(0, 50_000)));
    node.assertStrangersSee(policy(many.subList(0, 50_000)));
    node.remove(Family.IPV4);
  }

  private static Policy policy(List<Destination> destinations) {
    return new Policy(Family.IPV4, List.of(), List.of(), destinations, Policies.MASQUERADE);
  }

  @Test
  void familiesShareTheTableAndGoApart() {
    node.sync(DEFAULTS);
    node.sync(Policies.exempting("fd00::/8"));
    node.remove(Family.IPV4);
    assertFalse(node.listed().contains("4 {"), node.listed());
    node.sync(DEFAULTS);
    node.remove(Family.IPV6);
    assertFalse(node.listed().contains("6 {"), node.listed());
    node.remove(Family.IPV4);
    assertEquals("", namespace.nft("list", "ruleset"));
  }

  @Test
  void whatIsOwnedNobodyElseChanges() {
    node.sync(DEFAULTS);
    String before = node.listed();
    for (String attack :
        List.of(
            "delete table inet ip-masq-agent",
            "flush table inet ip-masq-agent",
            "flush chain inet ip-masq-agent postrouting4",
            "add rule inet ip-masq-agent postrouting4 accept",
            "add element inet ip-masq-agent exempt4 { 8.8.8.8 }",
            "delete element inet ip-masq-agent exempt4 { 10.0.0.0/8 }",
            "flush set inet ip-masq-agent exempt4",
            "add table inet ip-masq-agent { flags dormant; }")) {
      assertTrue(node.refuses(attack), attack);
    }
    node.others("flush ruleset");
    assertEquals(before, node.listed());
    assertTrue(node.plan(DEFAULTS).isEmpty());
  }

  @Test
  void anOwnerThatIsGoneLeavesTheTableToTheNext() throws Exception {
    node.sync(DEFAULTS);
    List<Long> handles = handles();
    node.restart();
    assertEquals("[~the table has no owner]", node.plan(DEFAULTS).changes().toString());
    node.sync(DEFAULTS);
    assertEquals(handles, handles());
    assertTrue(node.refuses("delete table inet ip-masq-agent"));
  }

  @Test
  void aSecondAgentIsToldWhoTheFirstIs() {
    node.sync(DEFAULTS);
    try (Node second = new Node(namespace, true)) {
      Outcome.Refused refused =
          assertInstanceOf(Outcome.Refused.class, second.apply(second.plan(DEFAULTS)));
      assertTrue(
          refused.failure().message().startsWith("table inet ip-masq-agent belongs to "),
          refused.failure().message());
    }
    try (Node visitor = new Node(namespace, false)) {
      assertInstanceOf(
          Outcome.Refused.class, visitor.apply(Plan.removal(visitor.observe(Family.IPV4))));
    }
    assertTrue(node.plan(DEFAULTS).isEmpty());
  }

  @Test
  void aTableThatCannotBeOwnedIsKeptAllTheSame() {
    try (Node unowned = new Node(namespace, false)) {
      unowned.sync(DEFAULTS);
    }
    node.sync(Policies.exempting("10.0.0.0/8"));
    assertTrue(node.table().details().contains("other processes can change the table"));
    node.others("delete table inet ip-masq-agent");
    node.sync(DEFAULTS);
    assertTrue(node.refuses("delete table inet ip-masq-agent"));
    assertTrue(node.table().details().contains("is owned"));
  }

  @Test
  void onAKernelWithoutOwnersAStartFindsNothingToChange() {
    try (Node before = Node.onKernel(namespace, KernelFeatures.ELEMENT_COUNTERS)) {
      before.sync(DEFAULTS);
    }
    // A new process does not know yet what the kernel lacks.
    assertEquals("[]", node.plan(DEFAULTS).changes().toString());
    node.sync(Policies.exempting("10.0.0.0/8"));
    assertEquals("[]", node.plan(Policies.exempting("10.0.0.0/8")).changes().toString());
  }

  @Test
  void whatTheKernelLacksIsLeftOutAndNotMissed() {
    for (KernelFeatures features : List.of(KernelFeatures.COMMENTS, KernelFeatures.NONE)) {
      try (Node old = Node.onKernel(namespace, features)) {
        old.sync(DEFAULTS);
        String listed = old.listed();
        assertFalse(listed.contains("10.0.0.0/8 counter"), listed);
        assertEquals(
            features == KernelFeatures.COMMENTS, listed.contains("kept by ip-masq-agent"), listed);
        assertTrue(old.table().details().endsWith("that needs kernel 5.12"), old.table().details());
      }
      assertEquals("[]", node.plan(DEFAULTS).changes().toString());
      assertTrue(node.table().details().endsWith("that needs kernel 5.12"), node.table().details());
      node.remove(Family.IPV4);
    }
  }

  @Test
  void whatIsOvertakenIsTriedAgainAndNoCrash() {
    node.sync(DEFAULTS);
    Plan stale = node.plan(Policies.exempting("10.0.0.0/8", "1.0.0.0/8"));
    node.sync(Policies.exempting("10.0.0.0/8", "1.0.0.0/8"));
    assertInstanceOf(Outcome.Retry.class, node.apply(stale));
    node.sync(Policies.exempting("10.0.0.0/8"));
    for (Errno errno : List.of(Errno.ENOBUFS, Errno.ENOENT, Errno.EEXIST)) {
      assertInstanceOf(Outcome.Retry.class, NftablesBackend.outcome(refused(errno)));
    }
    assertInstanceOf(Outcome.Refused.class, NftablesBackend.outcome(refused(Errno.EPERM)));
    assertInstanceOf(
        Outcome.Retry.class,
        NftablesBackend.outcome(new Commit.Unclear(new NetlinkFailure.Overrun())));
  }

  private static Commit refused(Errno errno) {
    return new Commit.Rejected(
        List.of(
            new Commit.Complaint("add table inet t", new NetlinkFailure.Refused(0, errno, ""))));
  }

  @Test
  void amongOthersWhoCommitAllTheTimeEveryPolicyGetsInForce() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    Thread others =
        Thread.ofPlatform()
            .start(
                () -> {
                  while (!over.get()) {
                    node.others("add table ip other; delete table ip other");
                  }
                });
    Random random = new Random(3);
    try (NftablesBackend table = NftablesBackend.owning()) {
      for (int i = 0; i < 100; i++) {
        Policy policy = table.normalize(NftablesLayoutTest.generated(random));
        Result result = namespace.call(() -> new Enforcement(true).enforce(table, policy));
        assertFalse(result instanceof Result.Failed, result.toString());
      }
    } finally {
      over.set(true);
      others.join();
    }
  }
}
