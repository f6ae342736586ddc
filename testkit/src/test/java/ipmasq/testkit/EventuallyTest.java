package ipmasq.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EventuallyTest {
  private final AtomicInteger looks = new AtomicInteger();

  @Test
  void looksAgainUntilItIsGood() {
    assertEquals(3, Eventually.eventually("three", looks::incrementAndGet, n -> n == 3));
  }

  @Test
  void failedLookIsNotTheEnd() {
    int seen =
        Eventually.eventually(
            "no failure",
            () -> {
              if (looks.incrementAndGet() < 3) {
                throw new AssertionError("not yet");
              }
              return looks.get();
            },
            _ -> true);
    assertEquals(3, seen);
  }

  @Test
  void errorTellsWhatWasSeenLast() {
    AssertionError error =
        assertThrows(
            AssertionError.class,
            () ->
                Eventually.within(Duration.ofMillis(20), "the moon", () -> "a cloud", _ -> false));
    assertEquals("not within PT0.02S: the moon; last: a cloud", error.getMessage());
  }

  @Test
  void deadlineThatIsOverStillLooksOnce() {
    assertTrue(Eventually.within(Duration.ZERO, "now", () -> true, seen -> seen));
  }
}
