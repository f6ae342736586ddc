package ipmasq.hook;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.app.NatHooks;
import ipmasq.backend.Backend;
import ipmasq.backend.iptables.IptablesBackend;
import ipmasq.backend.nftables.NftablesBackend;
import ipmasq.config.Config;
import ipmasq.config.Key;
import ipmasq.hook.Others.Case;
import ipmasq.loop.Enforcement;
import ipmasq.loop.Pass;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Policies;
import ipmasq.testkit.Probe;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
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
  @MethodSource("ipmasq.hook.Others#cases")
  void asPacketsShowIt(Case example) throws Exception {
    judge(example, IptablesBackend.ofNode("IP-MASQ-AGENT"), POLICY, example.conflicts());
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ipmasq.hook.Others#cases")
  void withATableOfOurOwn(Case example) throws Exception {
    // It is asked whatever others accept.
    judge(example, POLICY, without("shields", example.conflicts()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ipmasq.hook.Others#cases")
  void forOurPodsAlone(Case example) throws Exception {
    // Docker's packets are not ours then.
    judge(example, OF_PODS, without("masquerades-own", without("shields", example.conflicts())));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ipmasq.hook.Others#cases")
  void whereOurRulesPin(Case example) throws Exception {
    judge(example, Policies.pinned(POLICY), example.pinned());
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ipmasq.hook.Others#cases")
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
    Pass.Result result = lab.node().call(() -> new Enforcement(true).enforce(backend, policy));
    assertEquals(Pass.Result.Changed.class, result.getClass(), result.toString());
    Others.add(lab.node(), example.tool(), example.after());

    Hook hook = lab.node().call(() -> hook(backend, policy));
    for (String destination : DESTINATIONS) {
      boolean translated = !lab.send(Probe.udp(destination)).source().equals(Lab.POD.v4());
      Flow flow = flow(destination);
      boolean exempt = policy.exempt().stream().anyMatch(r -> r.contains(Ip.of(destination)));
      if (example.tellable() || policy.pinned() && exempt) {
        assertEquals(
            translated,
            translated(lab.node().call(() -> hook.actual(flow))),
            example + " to " + destination);
      }
    }
    List<String> found = new ArrayList<>();
    for (Conflict conflict : Conflicts.in(hook, policy, LINKS)) {
      found.add(conflict.kind().word() + " " + conflict.owner());
    }
    assertEquals(expected, found.stream().distinct().toList());
  }

  private static Hook hook(Backend backend, Policy policy) {
    return new NatHooks().at(Family.IPV4, backend.name(), "IP-MASQ-AGENT", Optional.of(policy));
  }

  private static Flow flow(String destination) {
    return Flow.to(Ip.of(destination))
        .from(Ip.ofBytes(Lab.POD.v4().getAddress()), false, Optional.of("pod0"))
        .by(Optional.of("udp"), OptionalInt.of(7777))
        .via(List.of("eth0"));
  }

  private static boolean translated(Actual actual) {
    return switch (actual) {
      case Actual.Kept _ -> false;
      case Actual.Translated _ -> true;
      case Actual.Dropped _, Actual.UnknownActual _ -> throw new AssertionError(actual);
    };
  }
}
