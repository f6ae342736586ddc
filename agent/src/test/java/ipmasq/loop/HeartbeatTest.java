package ipmasq.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class HeartbeatTest {
  private long seconds;
  private final Heartbeat heartbeat = new Heartbeat(() -> seconds * 1_000_000_000L);

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
    assertTrue(heartbeat.inPass());
    heartbeat.beat(Duration.ofSeconds(1));
    assertFalse(heartbeat.inPass());
  }

  @Test
  void patienceBeginsWhenTheNextBeatIsDue() {
    seconds = 10;
    heartbeat.beat(Duration.ofMinutes(10));
    seconds = 10 + 600 + 119;
    assertEquals(Optional.empty(), heartbeat.stuck());
    seconds = 10 + 600 + 120;
    assertTrue(heartbeat.stuck().orElseThrow().startsWith("the loop has made no progress for 720"));
    heartbeat.beat(Duration.ofSeconds(1));
    assertEquals(Optional.empty(), heartbeat.stuck());
  }

  @Test
  @Timeout(10)
  void saysWhereTheLoopIs() throws InterruptedException {
    CountDownLatch beaten = new CountDownLatch(1);
    Thread loop =
        Thread.ofPlatform()
            .start(
                () -> {
                  heartbeat.beat(Duration.ZERO);
                  beaten.countDown();
                  waitForever();
                });
    beaten.await();
    seconds = 1000;
    String expected =
        "the loop has made no progress for 1000 s (in " + getClass().getName() + ".waitForever)";
    while (!heartbeat.stuck().equals(Optional.of(expected))) {
      Thread.onSpinWait(); // until the thread has got there
    }
    loop.interrupt();
    loop.join();
  }

  private static void waitForever() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException end) {
      // the test is over
    }
  }
}
