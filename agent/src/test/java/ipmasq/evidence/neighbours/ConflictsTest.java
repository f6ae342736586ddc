package ipmasq.evidence.neighbours;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.backend.Backend;
import ipmasq.backend.iptables.IptablesBackend;
import ipmasq.backend.nftables.NftablesBackend;
import ipmasq.config.Config;
import ipmasq.config.Key;
import ipmasq.evidence.neighbours.Cell.Field;
import ipmasq.evidence.neighbours.Others.Case;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Treatment;
import ipmasq.sync.Enforcement;
import ipmasq.sync.SyncReport;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Policies;
import ipmasq.testkit.Probe;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Other people's rules beside ours, each judged as packets show it to be: the config exempts
 * 10.0.0.0/8 and 172.20.0.0/16, and the pod sends to both and outside.
 */
@KernelTest
@Timeout(120)
class ConflictsTest {
  private static final Config CONFIG =
      Config.defaults()
          .with(
              Key.NON_MASQUERADE_CIDRS,
              Cidrs.copyOf(List.of(Cidr.of("10.0.0.0/8"), Cidr.of("172.20.0.0/16"))));
  private static final Policy POLICY = CONFIG.policy(Family.IPV4);
  private static final Policy OF_PODS =
      Policies.scoped(POLICY, List.of("10.244.0.0/16"), List.of("eth+"));
  private static final List<String> DESTINATIONS =
      List.of("10.99.0.1", "172.20.0.1", "203.0.113.7");

  private static final NodeLinks LINKS =
      new NodeLinks(
          List.of("eth0", "pod0"),
          List.of(Cidr.of("192.0.2.10/32")),
          List.of(),
          List.of(Cidr.of("10.244.1.0/24")));

  private static Lab lab;

  @BeforeAll
  static void open() {
    lab = Lab.open();
  }

  @AfterAll
  static void close() {
    if (lab != null) {
      lab.close();
    }
  }

  @AfterEach
  void flush() {
    lab.node().run("nft", "flush", "ruleset");
    lab.node().run("iptables-legacy", "-t", "nat", "-F");
    lab.node().run("iptables-legacy", "-t", "nat", "-X");
    lab.node().run("ipset", "destroy");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ipmasq.evidence.neighbours.Others#cases")
  void asPacketsShowIt(Case example) throws Exception {
    // Both kinds of iptables have one priority: which of them runs first is not visible.
    List<String> expected =
        example.conflicts().stream()
            .map(
                text ->
                    example.tool() == Others.Tool.LEGACY_IPTABLES
                        ? text.replace("keeps ", "unclear-shields ")
                        : text)
            .toList();
    judge(example, IptablesBackend.ofNode("IP-MASQ-AGENT"), POLICY, expected);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ipmasq.evidence.neighbours.Others#cases")
  void withATableOfOurOwn(Case example) throws Exception {
    // It is asked whatever others accept.
    judge(example, POLICY, without("shields", example.conflicts()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ipmasq.evidence.neighbours.Others#cases")
  void forOurPodsAlone(Case example) throws Exception {
    // Docker's packets are not ours then.
    judge(example, OF_PODS, without("masquerades-own", without("shields", example.conflicts())));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ipmasq.evidence.neighbours.Others#cases")
  void whereOurRulesPin(Case example) throws Exception {
    judge(example, Policies.pinned(POLICY), example.pinned());
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ipmasq.evidence.neighbours.Others#cases")
  void whereOurRulesPinOurPodsAlone(Case example) throws Exception {
    judge(example, Policies.pinned(OF_PODS), example.pinned());
  }

  private static List<String> without(String kind, List<String> conflicts) {
    return conflicts.stream().filter(text -> !text.startsWith(kind + " ")).toList();
  }

  private void judge(Case example, Policy policy, List<String> expected) throws Exception {
    try (NftablesBackend table = NftablesBackend.withoutOwner()) {
      judge(example, table, policy, expected);
    }
  }

  private void judge(Case example, Backend backend, Policy policy, List<String> expected)
      throws Exception {
    Others.add(lab.node(), example.tool(), example.before());
    SyncReport.Result result =
        lab.node().call(() -> new Enforcement(true).enforce(backend, policy));
    assertEquals(SyncReport.Result.Changed.class, result.getClass(), result.toString());
    Others.add(lab.node(), example.tool(), example.after());

    try (HooksReader reader = new HooksReader()) {
      Rule.Hooks hooks = lab.node().call(() -> hooks(reader, backend, policy));
      for (String destination : DESTINATIONS) {
        boolean translated = !lab.send(Probe.udp(destination)).source().equals(Lab.POD.v4());
        boolean exempt = policy.exempt().stream().anyMatch(r -> r.contains(Ip.of(destination)));
        if (example.tellable() || policy.pinned() && exempt) {
          List<Cell> packet = List.of(packet(destination, exempt));
          List<Walk.Leaf> leaves =
              lab.node().call(() -> Walk.of(hooks, packet, false, _ -> true, Walk.MOST_VISITS));
          assertEquals(
              Set.of(translated),
              leaves.stream().map(ConflictsTest::translated).collect(Collectors.toSet()),
              example + " to " + destination + ": " + leaves);
        }
      }
      List<String> found = new ArrayList<>();
      for (Conflict conflict : Conflicts.in(hooks, policy, LINKS)) {
        found.add(conflict.kind().word() + " " + conflict.owner());
      }
      assertEquals(expected, found.stream().distinct().toList());
    }
  }

  private static Rule.Hooks hooks(HooksReader reader, Backend backend, Policy policy) {
    Neighbours.Ours ours =
        new Neighbours.Ours(backend.name(), "IP-MASQ-AGENT", Optional.of(policy));
    return reader.read(Family.IPV4, ours, HooksReader.Services.LEFT_OUT, new Links(LINKS.names()));
  }

  private static Cell packet(String destination, boolean exempt) {
    Links links = new Links(LINKS.names());
    return Cell.any(Family.IPV4, exempt ? Treatment.EXEMPT : Treatment.TRANSLATE, links)
        .from(Interval.of(Ip.ofBytes(Lab.POD.v4().getAddress())))
        .with(Field.DESTINATION, Interval.of(Ip.of(destination)))
        .with(Field.PROTOCOL, Interval.of(17, 17))
        .with(Field.PORT, Interval.of(7777, 7777))
        .with(Field.IN, links.named("pod0").orElseThrow())
        .with(Field.OUT, links.named("eth0").orElseThrow());
  }

  private static boolean translated(Walk.Leaf leaf) {
    return switch (leaf.kind()) {
      case KEPT, PASSED, PINNED -> false;
      case TRANSLATED, OURS -> true;
      case DROPPED, REDIRECTED, UNCLEAR -> throw new AssertionError(leaf);
    };
  }
}
