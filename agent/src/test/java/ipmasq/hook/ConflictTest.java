package ipmasq.hook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.hook.Conflict.ConflictKind;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import ipmasq.testkit.Policies;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ConflictTest {
  @Test
  void aPolicyOfDropIsAboutWhatNoRuleAccepted() {
    Rule lo = new Rule(List.of(new Condition.Out(List.of("lo"))), new Action.Accept(), "lo");
    Rule pods =
        new Rule(List.of(Condition.source(Cidr.of("10.244.1.0/26"))), new Action.Accept(), "pods");
    BaseChain chain =
        new BaseChain(
            "mine",
            HookPoint.POSTROUTING,
            90,
            "c",
            true,
            new BaseChain.ChainsRead(Map.of("c", List.of(lo, pods))));
    Policy policy = Policies.exempting("10.0.0.0/8");
    Hook hook = new Hook(Family.IPV4, List.of(chain), Optional.of(policy));
    Conflict drops = Conflicts.in(hook, policy, NodeLinks.UNKNOWN).getFirst();
    assertEquals(ConflictKind.DROPS, drops.kind());
    assertEquals("packets not out of lo, not from 10.244.1.0/26", drops.packets());
  }

  private static List<Conflict> ofRules(int count) {
    List<Rule> rules =
        IntStream.rangeClosed(1, count)
            .mapToObj(
                i ->
                    new Rule(
                        List.of(Condition.source(Cidr.of("10.244.1." + i + "/32"))),
                        new Action.Translate("MASQUERADE"),
                        "-A POSTROUTING -s 10.244.1." + i + "/32 -j MASQUERADE"))
            .toList();
    Policy policy = Policies.exempting("10.0.0.0/8");
    BaseChain chain = new BaseChain("nat POSTROUTING", 100, "c", Map.of("c", rules));
    Hook hook = new Hook(Family.IPV4, List.of(chain), Optional.of(policy));
    return Conflicts.in(hook, policy, NodeLinks.UNKNOWN);
  }

  @Test
  void aFewRulesAreToldOneByOne() {
    List<Conflict> few = ofRules(3);
    assertEquals(3, few.size());
    assertEquals("packets from 10.244.1.3", few.get(2).packets());
    assertFalse(few.get(0).isSame(few.get(1)));
    assertTrue(few.get(0).isLike(few.get(1)));
    assertTrue(few.get(1).isSame(ofRules(2).get(1)));
  }

  @Test
  void manyThatDoTheSameAreOne() {
    List<Conflict> many = ofRules(40);
    assertEquals(1, many.size());
    assertEquals(40, many.getFirst().rules());
    assertEquals(ConflictKind.MASQUERADES, many.getFirst().kind());
    assertTrue(many.getFirst().isSame(ofRules(6).getFirst()));
    assertFalse(many.getFirst().isSame(ofRules(3).getFirst()));
  }
}
