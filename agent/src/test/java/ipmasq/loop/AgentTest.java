package ipmasq.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Chosen;
import ipmasq.config.Config;
import ipmasq.config.Reading;
import ipmasq.net.Family;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AgentTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  private final FakeBackend backend = new FakeBackend("fake");
  private final Triggers triggers = new Triggers();
  private final BlockingQueue<Pass> passes = new LinkedBlockingQueue<>();

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
  void afterAFailureItTriesAgainSoonerThanTheInterval() throws Exception {
    backend.blind.add(Family.IPV4);
    Thread loop = start(Duration.ofHours(1));
    next();
    backend.blind.clear();
    Pass retry = next();
    assertEquals(Set.of(Trigger.RETRY), retry.why());
    assertTrue(retry.good());
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
          assertEquals(Set.of(Trigger.CONFIG, Trigger.RULES), triggers.await(Duration.ofHours(1)));
          assertEquals(Set.of(), triggers.await(Duration.ZERO));
        });
  }

  private Thread start(Duration interval) {
    Config config = Config.defaults().draft().resyncInterval(interval).config();
    Sync sync =
        new Sync(
            () -> new Reading.Read(config, List.of(), List.of()),
            config,
            _ -> new Chosen(backend, "a test", List.of()),
            Clock.systemUTC());
    return Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                new Agent(sync, triggers, passes::add).run();
              } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
              }
            });
  }

  private Pass next() throws InterruptedException {
    Pass pass = passes.poll(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    if (pass == null) {
      throw new AssertionError("no pass within " + DEADLINE);
    }
    return pass;
  }
}
