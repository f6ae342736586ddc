package ipmasq.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Chosen;
import ipmasq.backend.Failure;
import ipmasq.backend.Outcome;
import ipmasq.config.Config;
import ipmasq.config.Reading;
import ipmasq.loop.Pass.Basis;
import ipmasq.loop.Pass.Result;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SyncTest {
  private static final Config DEFAULTS = Config.defaults();
  private static final Config NARROW =
      DEFAULTS.draft().nonMasqueradeCidrs(List.of(Cidr.of("10.9.0.0/16"))).config();
  private static final Config DUAL = DEFAULTS.draft().enableIpv6(true).config();

  private final FakeBackend backend = new FakeBackend("fake");
  private final FakeBackend other = new FakeBackend("other");
  private Reading file = good(DEFAULTS);
  private final Sync sync =
      new Sync(
          () -> file,
          DEFAULTS,
          _ -> new Chosen(backend, "a test", List.of(other)),
          Clock.systemUTC());

  @Test
  void theFilesPolicyIsPutInForceOnce() {
    Pass first = pass();
    assertEquals(Policy.of(DEFAULTS, Family.IPV4), backend.kernel.get(Family.IPV4));
    assertTrue(first.changed() && first.good());
    assertFalse(pass().changed());
    assertEquals(1, backend.applied.size());
  }

  @Test
  void aChangedFileAndTamperingAreBothMended() {
    pass();
    file = good(NARROW);
    assertEquals("[-10.0.0.0/8, -172.16.0.0/12, -192.168.0.0/16, +10.9.0.0/16]", changes(pass()));
    backend.kernel.remove(Family.IPV4);
    assertTrue(pass().changed());
    assertEquals(Policy.of(NARROW, Family.IPV4), backend.kernel.get(Family.IPV4));
  }

  @Test
  void aBadFileKeepsTheLastGoodOneInForceAndHealed() {
    file = good(NARROW);
    pass();
    file = bad();
    backend.kernel.remove(Family.IPV4);
    Pass pass = pass();
    assertEquals(Basis.LAST_GOOD, pass.basis());
    assertEquals(Policy.of(NARROW, Family.IPV4), backend.kernel.get(Family.IPV4));
    assertFalse(pass.good());
    assertTrue(pass.enforced());
  }

  @Test
  void aBadFileAtTheStartMeansTheDefaults() {
    file = bad();
    assertEquals(Basis.FALLBACK, pass().basis());
    assertEquals(Policy.of(DEFAULTS, Family.IPV4), backend.kernel.get(Family.IPV4));
  }

  @Test
  void aBadFileAtTheStartKeepsAndHealsWhatAnEarlierRunLeft() {
    Policy left = Policy.of(NARROW, Family.IPV4);
    backend.kernel.put(Family.IPV4, left);
    file = bad();
    assertFalse(pass().changed());
    backend.kernel.remove(Family.IPV4);
    assertTrue(pass().changed());
    assertEquals(left, backend.kernel.get(Family.IPV4));
    file = good(DEFAULTS);
    pass();
    assertEquals(Policy.of(DEFAULTS, Family.IPV4), backend.kernel.get(Family.IPV4));
  }

  @Test
  void familiesFailApart() {
    file = good(DUAL);
    backend.blind.add(Family.IPV4);
    Pass pass = pass();
    assertInstanceOf(Result.Failed.class, pass.results().get(Family.IPV4));
    assertInstanceOf(Result.Changed.class, pass.results().get(Family.IPV6));
    assertFalse(pass.enforced());
  }

  @Test
  void aFamilyThatIsTurnedOffIsRemoved() {
    file = good(DUAL);
    pass();
    assertTrue(backend.kernel.containsKey(Family.IPV6));
    file = good(DEFAULTS);
    assertTrue(pass().changed());
    assertNull(backend.kernel.get(Family.IPV6));
  }

  @Test
  void aNodeWithoutIpv6IsNoFailure() {
    backend.blind.add(Family.IPV6);
    assertTrue(pass().good());
  }

  @Test
  void anotherBackendsRulesGoWhenOursAreInForceAndNotBefore() {
    other.kernel.put(Family.IPV4, Policy.of(NARROW, Family.IPV4));
    backend.outcomes.add(new Outcome.Refused(new Failure("no", "wait")));
    pass();
    assertTrue(other.kernel.containsKey(Family.IPV4));
    pass();
    assertFalse(other.kernel.containsKey(Family.IPV4));
  }

  @Test
  void aLostRaceIsRunAgain() {
    backend.outcomes.add(new Outcome.Raced("overtaken"));
    backend.outcomes.add(new Outcome.Raced("overtaken"));
    assertTrue(pass().good());
    assertEquals(3, backend.applied.size());
  }

  @Test
  void racesThatNeverEndAreAFailure() {
    for (int i = 0; i < 20; i++) {
      backend.outcomes.add(new Outcome.Raced("overtaken"));
    }
    assertInstanceOf(Result.Failed.class, pass().results().get(Family.IPV4));
    assertEquals(5, backend.applied.size());
  }

  private Pass pass() {
    return sync.pass(Set.of(Trigger.RESYNC));
  }

  private static String changes(Pass pass) {
    return assertInstanceOf(Result.Changed.class, pass.results().get(Family.IPV4))
        .changes()
        .toString();
  }

  private static Reading good(Config config) {
    return new Reading.Read(config, List.of(), List.of());
  }

  private static Reading bad() {
    return new Reading.Rejected(List.of(), List.of());
  }
}
