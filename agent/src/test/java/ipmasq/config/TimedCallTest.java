package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class TimedCallTest {
  private final CountDownLatch returned = new CountDownLatch(1);
  private final AtomicInteger calls = new AtomicInteger();
  private final TimedCall<String> timed =
      new TimedCall<>("test", Duration.ofMillis(50), returned::countDown);

  @Test
  void aCallThatReturnsGivesItsAnswer() {
    TimedCall<String> patient = new TimedCall<>("test", Duration.ofMinutes(1), () -> {});
    assertEquals(Optional.of("a"), patient.call(() -> "a"));
    assertEquals(Optional.of("b"), patient.call(() -> "b"));
  }

  @Test
  void oneThatDoesNotIsGivenUpAndNoOtherIsMadeMeanwhile() throws InterruptedException {
    CountDownLatch stuck = new CountDownLatch(1);
    for (int i = 0; i < 10; i++) {
      assertEquals(
          Optional.empty(),
          timed.call(
              () -> {
                calls.incrementAndGet();
                stuck.await();
                return "old";
              }));
    }
    assertEquals(1, calls.get());
    stuck.countDown();
    assertTrue(returned.await(60, TimeUnit.SECONDS));
    Optional<String> answer = timed.call(() -> "new");
    assertTrue(answer.isEmpty() || answer.get().equals("new"), answer.toString());
  }

  @Test
  void errorsOfTheCallAreTheCallers() {
    TimedCall<String> patient = new TimedCall<>("test", Duration.ofMinutes(1), () -> {});
    assertThrows(
        OutOfMemoryError.class,
        () ->
            patient.call(
                () -> {
                  throw new OutOfMemoryError("test");
                }));
  }
}
