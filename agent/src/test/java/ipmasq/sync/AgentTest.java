package ipmasq.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Watch;
import ipmasq.config.Config;
import ipmasq.config.Key;
import ipmasq.config.Reading;
import ipmasq.net.Family;
import ipmasq.sync.Targets.Target;
import ipmasq.testkit.Eventually;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class AgentTest {
  private static final Duration WATCH = Duration.ofMillis(10);
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  private final FakeBackend backend = new FakeBackend("fake");
  private final Trigger.Queue triggers = new Trigger.Queue();
  private final AtomicBoolean configOverdue = new AtomicBoolean();
  private final BlockingQueue<SyncReport> passes = new LinkedBlockingQueue<>();

  @Test
  void itPassesAtTheStartOnEachTriggerAndEndsWhenTold() throws Exception {
    Thread loop = start(Duration.ofHours(1));
    assertEquals(Set.of(Trigger.START), next().why());
    triggers.post(Trigger.CONFIG);
    assertEquals(Set.of(Trigger.CONFIG), next().why());
    triggers.post(Trigger.STOP);
    loop.join(DEADLINE);
    assertTrue(passes.isEmpty());
  }

  @Test
  void itLooksAgainWhenTheIntervalHasPassed() throws Exception {
    Thread loop = start(Duration.ofMillis(20));
    next();
    assertEquals(Set.of(Trigger.RESYNC), next().why());
    triggers.post(Trigger.STOP);
    loop.join(DEADLINE);
  }

  @Test
  void aConfigThatDoesNotAnswerIsSaidBeforeTheInterval() throws Exception {
    Thread loop = start(Duration.ofHours(1), () -> Optional.of("same"), WATCH, pass -> {});
    next();
    configOverdue.set(true);
    assertEquals(Set.of(Trigger.CONFIG), next().why());
    triggers.post(Trigger.STOP);
    loop.join(DEADLINE);
  }

  @Test
  void afterAFailureItTriesAgainSoonerThanTheInterval() throws Exception {
    backend.blind.add(Family.IPV4);
    Thread loop = start(Duration.ofHours(1));
    next();
    backend.blind.clear();
    SyncReport retry = next();
    assertEquals(Set.of(Trigger.RETRY), retry.why());
    assertTrue(retry.ready());
    triggers.post(Trigger.STOP);
    loop.join(DEADLINE);
  }

  @Test
  void whatMayHaveEndedAFailureIsTriedAtOnce() throws Exception {
    Object[] mark = {"broken"};
    backend.blind.add(Family.IPV4);
    Thread loop = start(Duration.ofHours(1), () -> Optional.of(mark[0]), WATCH, pass -> {});
    for (int i = 0; i < 3; i++) {
      next(); // by now two seconds would pass until the next try
    }
    backend.blind.clear();
    mark[0] = "repaired";
    SyncReport pass = next();
    assertEquals(Set.of(Trigger.RULES, Trigger.RETRY), pass.why());
    assertTrue(pass.ready());
    triggers.post(Trigger.STOP);
    loop.join(DEADLINE);
  }

  @Test
  void aBurstIsHandedOverTogether() {
    triggers.post(Trigger.CONFIG);
    triggers.post(Trigger.RULES);
    triggers.post(Trigger.CONFIG);
    assertTimeoutPreemptively(
        DEADLINE,
        () -> {
          assertEquals(
              Set.of(Trigger.CONFIG, Trigger.RULES), triggers.await(Duration.ofHours(1).toNanos()));
          assertEquals(Set.of(), triggers.await(0));
        });
  }

  @Test
  void whatSomebodyBreaksIsMendedLongBeforeTheIntervalIsOver() throws Exception {
    Thread loop = startWatching(pass -> {});
    next();
    AtomicInteger hands = new AtomicInteger();
    undo = () -> hands.getAndIncrement() == 0 && backend.kernel.remove(Family.IPV4) != null;
    SyncReport repair = nextChanged();
    assertEquals(Set.of(Trigger.RULES), repair.why());
    assertFalse(repair.fighting());
    triggers.post(Trigger.STOP);
    loop.join(DEADLINE);
    assertEquals(2, backend.applied.size());
  }

  @Test
  void whileNobodyTouchesTheRulesNoPassIsMade() throws Exception {
    Thread loop = startWatching(pass -> {});
    next();
    SyncReport second = next(); // what was written is looked at once more
    assertFalse(second.changed());
    int looks = marks.get();
    Eventually.eventually("more looks", marks::get, now -> now > looks + 20);
    assertTrue(passes.isEmpty());
    triggers.post(Trigger.STOP);
    loop.join(DEADLINE);
  }

  @Test
  void aFightIsCalledOneAndFoughtSlowly() throws Exception {
    Thread loop =
        startWatching(
            pass -> {
              if (pass.changed()) {
                backend.kernel.remove(Family.IPV4);
              }
            });
    SyncReport pass = next();
    while (!pass.fighting()) {
      pass = next();
    }
    triggers.post(Trigger.STOP);
    loop.join(DEADLINE);
    assertTrue(backend.applied.size() <= 7, "writes: " + backend.applied.size());
  }

  private final AtomicInteger marks = new AtomicInteger();
  private volatile BooleanSupplier undo = () -> false;

  /** Looks at the rules every 10 ms; the fake kernel's policies are their own mark. */
  private Thread startWatching(Consumer<SyncReport> afterwards) {
    Watch watch =
        () -> {
          undo.getAsBoolean();
          marks.incrementAndGet();
          return Optional.of(Map.copyOf(backend.kernel));
        };
    return start(Duration.ofHours(1), watch, WATCH, afterwards);
  }

  private SyncReport nextChanged() throws InterruptedException {
    SyncReport pass = next();
    return pass.changed() ? pass : nextChanged();
  }

  private Thread start(Duration interval) {
    return start(interval, Watch.NONE, Duration.ZERO, pass -> {});
  }

  private Thread start(
      Duration interval, Watch watch, Duration watchInterval, Consumer<SyncReport> afterwards) {
    Config config = Config.defaults().with(Key.RESYNC_INTERVAL, interval);
    Sync sync =
        new Sync(
            _ -> new Reading.Read(config, List.of(), List.of()),
            config,
            new FakeTargets(() -> new Target(backend, "a test", watch, List.of())),
            Host.UNKNOWN,
            Clock.systemUTC(),
            true,
            it -> it);
    return Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                new Agent(
                        sync,
                        triggers,
                        watchInterval,
                        () -> configOverdue.getAndSet(false),
                        new Heartbeat(System::nanoTime, Optional::empty),
                        afterwards.andThen(passes::add))
                    .run();
              } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
              }
            });
  }

  private SyncReport next() throws InterruptedException {
    SyncReport pass = passes.poll(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    if (pass == null) {
      throw new AssertionError("no pass within " + DEADLINE);
    }
    return pass;
  }
}
