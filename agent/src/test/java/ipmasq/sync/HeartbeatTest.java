package ipmasq.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class HeartbeatTest {
  private long seconds;
  private Optional<Duration> deadline = Optional.empty();
  private final Heartbeat heartbeat = new Heartbeat(() -> seconds * 1_000_000_000L, () -> deadline);

  @Test
  void aLoopThatNeverBeginsIsStuckAfterTwoMinutes() {
    seconds = 119;
    assertEquals(Optional.empty(), heartbeat.stuck());
    seconds = 120;
    assertTrue(heartbeat.stuck().isPresent());
  }

  @Test
  void aPassIsUnderWayUntilTheNextWait() {
    heartbeat.beat(Duration.ZERO);
    assertTrue(heartbeat.inSync());
    heartbeat.beat(Duration.ofSeconds(1));
    assertFalse(heartbeat.inSync());
  }

  @Test
  void aSyncThatTakesLongMakesThePresentUnknown() {
    heartbeat.beat(Duration.ZERO);
    seconds = 2;
    assertEquals(Optional.empty(), heartbeat.waiting());
    seconds = 3;
    Heartbeat.Wait wait = heartbeat.waiting().orElseThrow();
    assertEquals(Duration.ofSeconds(3), wait.duration());
    assertEquals("a sync is under way", wait.what());
    assertFalse(wait.tooLong());
    deadline = Optional.of(Duration.ofSeconds(30));
    assertEquals("waiting for iptables", heartbeat.waiting().orElseThrow().what());
    seconds = 29;
    assertFalse(heartbeat.waiting().orElseThrow().tooLong());
    seconds = 30;
    assertTrue(heartbeat.waiting().orElseThrow().tooLong());
    deadline = Optional.of(Duration.ofSeconds(5));
    seconds = 9;
    assertFalse(heartbeat.waiting().orElseThrow().tooLong());
    seconds = 10;
    assertTrue(heartbeat.waiting().orElseThrow().tooLong());
    heartbeat.beat(Duration.ofSeconds(60));
    assertEquals(Optional.empty(), heartbeat.waiting());
  }

  @Test
  void patienceBeginsWhenTheNextBeatIsDue() {
    seconds = 10;
    heartbeat.beat(Duration.ofMinutes(10));
    seconds = 10 + 600 + 119;
    assertEquals(Optional.empty(), heartbeat.stuck());
    seconds = 10 + 600 + 120;
    assertTrue(heartbeat.stuck().orElseThrow().startsWith("no progress for 720"));
    heartbeat.beat(Duration.ofSeconds(1));
    assertEquals(Optional.empty(), heartbeat.stuck());
  }
}
