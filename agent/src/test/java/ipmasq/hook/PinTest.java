package ipmasq.hook;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import ipmasq.testkit.Policies;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Our pinning among the chains of others, which masquerade what they meet. */
class PinTest {
  private static final Policy V4 = Policies.pinned(Policies.exempting("10.0.0.0/8"));
  private static final Policy V6 = Policies.pinned(Policies.exempting("fd00::/8"));
  private static final Policy OF_PODS =
      Policies.pinned(Policies.scoped(V4, List.of("10.244.0.0/16"), List.of("eth+", "wlan0")));

  @Test
  void onlyEarlierChainsTakeWhatIsPinned() {
    assertEquals("[MASQUERADES]", conflicts(V4, base(84, all())));
    assertEquals("[]", conflicts(V4, base(90, all()), base(100, all()), base(110, all())));
    assertEquals("[]", conflicts(V6, base(90, all())));
    assertEquals("[MASQUERADES]", conflicts(V6, base(-100, all())));
  }

  @Test
  void whatIsNotExemptGoesOn() {
    Hook hook = hook(V4, base(90, from("10.244.7.0/24")));
    assertEquals("PINNED", fate(hook, Flow.to(Ip.of("10.1.2.3"))));
    Flow out = Flow.to(Ip.of("8.8.8.8"));
    assertEquals("TRANSLATED", fate(hook, out.from(List.of(Cidr.of("10.244.7.2/32")))));
    assertEquals("OURS", fate(hook, out.from(List.of(Cidr.of("10.244.8.2/32")))));
  }

  @Test
  void aPinForPodsIsCertainOfPods() {
    assertEquals("[]", conflicts(OF_PODS, base(90, all())));
    Hook hook = hook(OF_PODS, base(90, all()));
    Flow inside = Flow.to(Ip.of("10.1.2.3")).via(List.of("eth1"));
    assertEquals("PINNED", fate(hook, inside.from(List.of(Cidr.of("10.244.1.2/32")))));
    assertEquals("TRANSLATED", fate(hook, inside.from(List.of(Cidr.of("10.9.1.2/32")))));
    assertEquals("cannot tell", fate(hook, inside));
    Flow elsewhere = inside.via(List.of("docker0"));
    assertEquals("TRANSLATED", fate(hook, elsewhere.from(List.of(Cidr.of("10.244.1.2/32")))));
  }

  @Test
  void howeverManySourcesThereAre() {
    List<String> many = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      many.add("10.244." + i + ".0/24");
    }
    Policy policy = Policies.pinned(Policies.scoped(V4, many, List.of()));
    assertEquals("[]", conflicts(policy, base(90, all())));
    assertEquals("[MASQUERADES]", conflicts(policy, base(80, from("10.244.99.0/24"))));
    assertEquals("[]", conflicts(policy, base(80, from("10.245.0.0/16"))));
  }

  @ParameterizedTest
  @CsvSource({
    "eth0,eth0,YES", "eth0,eth1,NO", "eth0,eth+,YES", "eth0,wlan+,NO", "eth0,+,YES",
    "eth+,eth+,YES", "eth+,eth0,MAYBE", "eth+,eth1+,MAYBE", "eth+,et+,YES", "eth+,wlan0,NO",
    "eth+,et,NO"
  })
  void namesOfInterfacesMayEndAnyhow(String leaves, String asked, Truth expected) {
    Flow flow = Flow.to(Ip.of("8.8.8.8")).via(List.of(leaves));
    assertEquals(expected, new Condition.Out(List.of(asked)).holds(flow, Marks.zero(0)));
  }

  private static String conflicts(Policy policy, BaseChain... others) {
    return Conflicts.in(hook(policy, others), policy, NodeLinks.UNKNOWN).stream()
            .map(Conflict::kind)
            .toList()
        + "";
  }

  private static String fate(Hook hook, Flow flow) {
    return switch (hook.actual(flow)) {
      case Actual.Kept(var by) -> by.map(d -> d.kind().toString()).orElse("untouched");
      case Actual.Translated(var by) -> by.getLast().kind().toString();
      case Actual.Dropped _ -> "dropped";
      case Actual.UnknownActual _ -> "cannot tell";
    };
  }

  private static Hook hook(Policy policy, BaseChain... others) {
    List<BaseChain> chains = new ArrayList<>(List.of(others));
    chains.add(base(105, new Rule(List.of(), new Action.Ours(), "ours")));
    chains.add(base(85, new Rule(List.of(), new Action.Pin(), "ours")));
    return new Hook(policy.family(), chains, Optional.of(policy));
  }

  private static BaseChain base(int priority, Rule rule) {
    return new BaseChain("chain " + priority, priority, "post", Map.of("post", List.of(rule)));
  }

  private static Rule all() {
    return new Rule(List.of(), new Action.Translate("masquerade"), "masquerade");
  }

  private static Rule from(String source) {
    List<Condition> conditions = List.of(Condition.source(Cidr.of(source)));
    return new Rule(conditions, new Action.Translate("masquerade"), "masquerade");
  }
}
