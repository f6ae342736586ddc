package ipmasq.netlink;

import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BellTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final long HOUR = Duration.ofHours(1).toNanos();

  private final Bell bell;

  BellTest() throws NetlinkUnavailable {
    bell = Bell.hang();
  }

  @Test
  void anotherThreadEndsTheWait() throws InterruptedException {
    CountDownLatch woken = new CountDownLatch(1);
    Thread waiting =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  bell.await(HOUR);
                  woken.countDown();
                });
    bell.ring();
    assertTrue(woken.await(DEADLINE.toSeconds(), TimeUnit.SECONDS));
    waiting.join(DEADLINE);
  }

  @Test
  void aRingBeforeTheWaitCounts() {
    bell.ring();
    assertTimeoutPreemptively(DEADLINE, () -> bell.await(HOUR));
  }

  @Test
  void timeEndsIt() {
    long start = System.nanoTime();
    long millis = 20;
    assertTimeoutPreemptively(DEADLINE, () -> bell.await(millis * 1_000_000));
    assertTrue(
        System.nanoTime() - start >= (millis - 8) * 1_000_000, "a tick or two early at most");
  }

  @Test
  void noTimeIsNoWait() {
    assertTimeoutPreemptively(DEADLINE, () -> bell.await(0));
    assertTimeoutPreemptively(DEADLINE, () -> bell.await(-1));
  }

  /** Nobody listens for long: the rest of the rings is as good as the first. */
  @Test
  void ringingOnDoesNotHang() {
    assertTimeoutPreemptively(
        DEADLINE,
        () -> {
          for (int i = 0; i < 10_000; i++) {
            bell.ring();
          }
          bell.await(HOUR);
        });
  }
}
