package ipmasq.sync;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Failure;
import ipmasq.backend.Outcome;
import ipmasq.backend.Watch;
import ipmasq.config.Config;
import ipmasq.config.FileSnapshot;
import ipmasq.config.Key;
import ipmasq.config.Reading;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import ipmasq.sync.SyncReport.Basis;
import ipmasq.sync.SyncReport.Result;
import ipmasq.sync.Targets.Target;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SyncTest {
  private static final Config DEFAULTS = Config.defaults();
  private static final Config NARROW =
      DEFAULTS.with(Key.NON_MASQUERADE_CIDRS, Cidrs.copyOf(List.of(Cidr.of("10.9.0.0/16"))));
  private static final Config DUAL = DEFAULTS.with(Key.ENABLE_IPV6, true);

  private final FakeBackend backend = new FakeBackend("fake");
  private final FakeBackend other = new FakeBackend("other");
  private Reading file = good(DEFAULTS);
  private Watch watch = Watch.NONE;
  private final FakeTargets targets =
      new FakeTargets(() -> new Target(backend, "a test", watch, List.of(other)));
  private final Sync sync = sync(true);

  private Sync sync(boolean writes) {
    return new Sync(
        _ -> file, DEFAULTS, targets, Host.UNKNOWN, Clock.systemUTC(), writes, it -> it);
  }

  @Test
  void theFilesPolicyIsPutInForceOnce() {
    SyncReport first = pass();
    assertEquals(DEFAULTS.policy(Family.IPV4), backend.kernel.get(Family.IPV4));
    assertTrue(first.changed() && first.ready());
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
    assertEquals(NARROW.policy(Family.IPV4), backend.kernel.get(Family.IPV4));
  }

  @Test
  void aFileFoundChangedOnTheWayIsTheReasonAndNotTheRules() {
    sync.run(Set.of(Trigger.START), false);
    file = good(NARROW);
    assertEquals(Set.of(Trigger.CONFIG), sync.run(Set.of(Trigger.RULES), false).why());
    file = good(DEFAULTS);
    assertEquals(
        Set.of(Trigger.CONFIG, Trigger.RESYNC), sync.run(Set.of(Trigger.RESYNC), false).why());
    backend.kernel.remove(Family.IPV4);
    assertEquals(Set.of(Trigger.RULES), sync.run(Set.of(Trigger.RULES), false).why());
  }

  @Test
  void rulesFoundChangedOnTheWayAreTheReasonAndNotTheFile() {
    sync.run(Set.of(Trigger.START), false);
    backend.kernel.remove(Family.IPV4);
    assertEquals(Set.of(Trigger.RULES), sync.run(Set.of(Trigger.CONFIG), false).why());
    assertEquals(Set.of(Trigger.CONFIG), sync.run(Set.of(Trigger.CONFIG), false).why());
  }

  @Test
  void rulesThatNobodyTouchedAreNotListedAgain() {
    Object[] fingerprint = {"one"};
    Watch fixed = () -> Optional.of(fingerprint[0]);
    watch = fixed;
    pass();
    pass();
    int looks = backend.looks;
    SyncReport calm = sync.run(Set.of(Trigger.RESYNC), true);
    assertEquals(looks, backend.looks);
    assertTrue(calm.ready() && !calm.changed() && calm.fighting());
    assertEquals(Set.of(Trigger.RESYNC), calm.why());
    backend.kernel.remove(Family.IPV4);
    fingerprint[0] = "two";
    assertTrue(pass().changed());
    pass();
    file = good(NARROW);
    assertTrue(pass().changed());
    assertFalse(pass().changed());
  }

  @Test
  void aPassThatOnlyLooksWritesNothingAndSaysWhatItWould() {
    other.kernel.put(Family.IPV4, NARROW.policy(Family.IPV4));
    SyncReport pass = sync(false).run(Set.of(Trigger.START), false);
    assertInstanceOf(Result.Pending.class, pass.results().get(Family.IPV4));
    assertInstanceOf(Result.Pending.class, pass.sweep().results().getFirst().result());
    assertFalse(pass.enforced() || pass.changed());
    assertEquals(List.of(), backend.applied);
    assertEquals(List.of(), other.applied);
  }

  @Test
  void whereTheNodeTurnsOutToBeAnotherTheRulesGoThereInTheSamePass() {
    FakeBackend second = new FakeBackend("second");
    backend.outcomes.add(new Outcome.Refused(new Failure("no modules", "none", true)));
    targets.otherwise = new Target(second, "a test", Watch.NONE, List.of());
    SyncReport pass = pass();
    assertTrue(pass.ready());
    assertEquals("second", pass.backend());
    assertTrue(second.kernel.containsKey(Family.IPV4));
  }

  @Test
  void aMarkThatCannotBeHadIsNoReasonToBeCalm() {
    watch = () -> Optional.of("a fingerprint");
    pass();
    pass();
    backend.kernel.remove(Family.IPV4);
    watch = Optional::empty;
    file = good(DEFAULTS);
    assertTrue(pass().changed());
    backend.kernel.remove(Family.IPV4);
    assertTrue(pass().changed());
  }

  @Test
  void aBadFileKeepsTheLastGoodOneInForceAndHealed() {
    file = good(NARROW);
    pass();
    file = bad();
    backend.kernel.remove(Family.IPV4);
    SyncReport pass = pass();
    assertEquals(Basis.LAST_GOOD, pass.basis());
    assertEquals(NARROW.policy(Family.IPV4), backend.kernel.get(Family.IPV4));
    assertFalse(pass.ready());
    assertTrue(pass.enforced());
  }

  @Test
  void aBadFileAtTheStartMeansTheDefaults() {
    file = bad();
    assertEquals(Basis.FALLBACK, pass().basis());
    assertEquals(DEFAULTS.policy(Family.IPV4), backend.kernel.get(Family.IPV4));
  }

  @Test
  void aBadFileAtTheStartKeepsAndHealsWhatAnEarlierRunLeft() {
    Policy left = NARROW.policy(Family.IPV4);
    backend.kernel.put(Family.IPV4, left);
    file = bad();
    assertFalse(pass().changed());
    backend.kernel.remove(Family.IPV4);
    assertTrue(pass().changed());
    assertEquals(left, backend.kernel.get(Family.IPV4));
    file = good(DEFAULTS);
    pass();
    assertEquals(DEFAULTS.policy(Family.IPV4), backend.kernel.get(Family.IPV4));
  }

  @Test
  void aGoodFileReplacesWhatWasKeptThoughNobodyTouchedTheRules() {
    watch = () -> Optional.of("untouched");
    backend.kernel.put(Family.IPV4, NARROW.policy(Family.IPV4));
    file = bad();
    sync.run(Set.of(Trigger.START), false);
    assertFalse(sync.run(Set.of(Trigger.RESYNC), false).changed());
    file = good(DEFAULTS);
    assertTrue(sync.run(Set.of(Trigger.CONFIG), false).changed());
    assertEquals(DEFAULTS.policy(Family.IPV4), backend.kernel.get(Family.IPV4));
  }

  @Test
  void familiesFailApart() {
    file = good(DUAL);
    backend.blind.add(Family.IPV4);
    SyncReport pass = pass();
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
    assertTrue(pass().ready());
  }

  @Test
  void anotherBackendsRulesGoWhenOursAreInForceAndNotBefore() {
    other.kernel.put(Family.IPV4, NARROW.policy(Family.IPV4));
    backend.outcomes.add(new Outcome.Refused(new Failure("no", "wait")));
    pass();
    assertTrue(other.kernel.containsKey(Family.IPV4));
    pass();
    assertFalse(other.kernel.containsKey(Family.IPV4));
  }

  @Test
  void whatAnotherBackendDoesNotGiveUpIsAFailureUntilItDoes() {
    other.kernel.put(Family.IPV4, NARROW.policy(Family.IPV4));
    other.outcomes.add(new Outcome.Refused(new Failure("not mine", "wait")));
    assertFalse(pass().enforced());
    assertTrue(pass().enforced());
    assertFalse(other.kernel.containsKey(Family.IPV4));
  }

  @Test
  void anotherBackendThatCannotBeLookedAtYetIsLookedAtLater() {
    other.blind.add(Family.IPV4);
    other.kernel.put(Family.IPV4, NARROW.policy(Family.IPV4));
    assertTrue(pass().ready());
    other.blind.clear();
    assertTrue(pass().ready());
    assertFalse(other.kernel.containsKey(Family.IPV4));
  }

  @Test
  void aLostRaceIsRunAgain() {
    backend.outcomes.add(new Outcome.Retry("overtaken"));
    backend.outcomes.add(new Outcome.Retry("overtaken"));
    assertTrue(pass().ready());
    assertEquals(3, backend.applied.size());
  }

  @Test
  void racesThatNeverEndAreAFailure() {
    for (int i = 0; i < 20; i++) {
      backend.outcomes.add(new Outcome.Retry("overtaken"));
    }
    assertInstanceOf(Result.Failed.class, pass().results().get(Family.IPV4));
    assertEquals(5, backend.applied.size());
  }

  @Test
  void theTimeThatAPassTakesIsNotTheClocks() {
    Instant[] now = {Instant.EPOCH};
    InstantSource jumping = () -> now[0] = now[0].minusSeconds(3600);
    Sync jumpy =
        new Sync(
            _ -> file,
            DEFAULTS,
            targets,
            Host.UNKNOWN,
            jumping.withZone(ZoneOffset.UTC),
            true,
            it -> it);
    assertFalse(jumpy.run(Set.of(Trigger.START), false).took().isNegative());
  }

  private SyncReport pass() {
    return sync.run(Set.of(Trigger.RESYNC), false);
  }

  private static String changes(SyncReport pass) {
    return assertInstanceOf(Result.Changed.class, pass.results().get(Family.IPV4))
        .changes()
        .toString();
  }

  private static Reading good(Config config) {
    return new Reading.Read(config, List.of(), List.of());
  }

  private static Reading good(Config config, String text) {
    return new Reading.Read(
        config, List.of(), List.of(FileSnapshot.of(Path.of("file"), text.getBytes(UTF_8))));
  }

  private static Reading bad() {
    return new Reading.Rejected(List.of(), List.of());
  }
}
