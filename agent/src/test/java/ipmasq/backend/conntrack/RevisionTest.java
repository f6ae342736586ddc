package ipmasq.backend.conntrack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Packet;
import ipmasq.policy.Policy;
import ipmasq.policy.Revision;
import ipmasq.testkit.Policies;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RevisionTest {
  private static final Policy WIDE = Policies.exempting("10.0.0.0/8", "192.168.0.0/16");
  private static final Policy NARROW = Policies.exempting("10.0.0.0/8");
  private static final Packet TO_LAN = Packet.to(Ip.of("192.168.1.1")).from(Ip.of("10.244.1.2"));
  private static final Packet OUT = Packet.to(Ip.of("8.8.8.8")).from(Ip.of("10.244.1.2"));
  private static final Optional<Ip> NODE = Optional.of(Ip.of("192.0.2.10"));
  private static final Optional<Ip> OWN = Optional.empty();

  @Test
  void whatIsTreatedOtherwiseFromNowOnBeginsAnew() {
    assertTrue(new Revision(WIDE, NARROW).concerns(TO_LAN, OWN));
    assertTrue(new Revision(NARROW, WIDE).concerns(TO_LAN, NODE));
  }

  @Test
  void whatIsTreatedAsBeforeIsLeftAlone() {
    assertFalse(new Revision(WIDE, NARROW).concerns(OUT, NODE));
    assertFalse(new Revision(WIDE, NARROW).concerns(OUT, OWN), "another chain's business");
    assertFalse(new Revision(WIDE, WIDE).concerns(TO_LAN, NODE), "another chain's business");
  }

  @Test
  void whatHasTheRightSourceAlreadyIsLeftAlone() {
    assertFalse(new Revision(NARROW, WIDE).concerns(TO_LAN, OWN));
    assertFalse(new Revision(WIDE, NARROW).concerns(TO_LAN, NODE));
  }

  @Test
  void anotherAddressIsAnotherTreatment() {
    Policy first = Policies.of(Family.IPV4, Policies.snat("192.0.2.10", "192.0.2.11"));
    Policy second = Policies.of(Family.IPV4, Policies.snat("192.0.2.11", "192.0.2.12"));
    assertTrue(new Revision(first, second).concerns(OUT, NODE));
    assertFalse(new Revision(first, second).concerns(OUT, Optional.of(Ip.of("192.0.2.11"))));
    assertFalse(
        new Revision(first, Policies.of(Family.IPV4, Policies.ports())).concerns(OUT, NODE));
  }

  @Test
  void pinningTakesBackWhatOthersGave() {
    assertTrue(new Revision(WIDE, Policies.pinned(WIDE)).concerns(TO_LAN, NODE));
    assertFalse(new Revision(WIDE, Policies.pinned(WIDE)).concerns(TO_LAN, OWN));
  }

  @Test
  void whereInterfacesChangeAnyFlowThatMayBeConcernedIs() {
    Revision revision =
        new Revision(
            Policies.scoped(WIDE, List.of(), List.of("eth0")),
            Policies.scoped(WIDE, List.of(), List.of("eth1")));
    assertTrue(revision.concerns(OUT, NODE));
    assertTrue(revision.concerns(OUT, OWN));
    assertFalse(revision.concerns(TO_LAN, OWN));
  }

  @Test
  void itAgreesWithTheVerdictsOfGeneratedPolicies() {
    Random random = new Random(5);
    int concerned = 0;
    for (int i = 0; i < 3000; i++) {
      Policy before = anywhere(Policies.random(random));
      Policy after = anywhere(Policies.random(random));
      if (before.family() != after.family()) {
        continue;
      }
      byte[] bytes = new byte[before.family().bytes()];
      random.nextBytes(bytes);
      Ip destination = Ip.ofBytes(bytes);
      random.nextBytes(bytes);
      Packet packet = Packet.to(destination).from(Ip.ofBytes(bytes));
      boolean was = before.verdictFor(packet).translated();
      boolean is = after.verdictFor(packet).translated();
      Optional<Ip> source = was ? Optional.of(given(before)) : Optional.empty();
      boolean otherAddress =
          was
              && is
              && !after.translation().addresses().map(r -> r.contains(given(before))).orElse(true);
      boolean expected = was != is || otherAddress;
      concerned += expected ? 1 : 0;
      assertEquals(expected, new Revision(before, after).concerns(packet, source));
    }
    assertTrue(concerned > 100, "concerned: " + concerned);
  }

  private static Ip given(Policy policy) {
    return policy
        .translation()
        .addresses()
        .map(range -> range.first())
        .orElse(Ip.of(policy.family() == Family.IPV4 ? "192.0.2.10" : "2001:db8::10"));
  }

  private static Policy anywhere(Policy policy) {
    return new Policy(
        policy.family(),
        policy.sources(),
        List.of(),
        policy.disjoint().destinations(),
        policy.translation());
  }
}
