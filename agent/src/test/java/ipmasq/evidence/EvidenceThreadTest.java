package ipmasq.evidence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class EvidenceThreadTest {
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final EvidenceThread evidence = EvidenceThread.start(failure::set);

  /** Occupies the thread until the latch is counted down. */
  private CountDownLatch busy() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    evidence
        .ask(
            () -> {
              begun.countDown();
              end.await();
              return 0;
            })
        .orElseThrow();
    begun.await();
    return end;
  }

  @Test
  void hundredsOfQuestionsAreOneThreadAndAFullQueueSaysSo() throws Exception {
    CountDownLatch end = busy();
    List<Future<Thread>> taken = new ArrayList<>();
    for (int i = 0; i < 250; i++) {
      evidence.ask(Thread::currentThread).ifPresent(taken::add);
    }
    assertEquals(EvidenceThread.MOST_QUESTIONS, taken.size());
    end.countDown();
    for (Future<Thread> answer : taken) {
      assertSame(taken.getFirst().get(), answer.get());
    }
  }

  @Test
  void aQuestionThatIsTakenBackIsNotAnsweredAndMakesRoom() throws Exception {
    CountDownLatch end = busy();
    AtomicInteger answered = new AtomicInteger();
    List<Future<Integer>> taken = new ArrayList<>();
    for (int i = 0; i < EvidenceThread.MOST_QUESTIONS; i++) {
      taken.add(evidence.ask(answered::incrementAndGet).orElseThrow());
    }
    taken.forEach(answer -> answer.cancel(true));
    Optional<Future<Integer>> last = evidence.ask(answered::get);
    end.countDown();
    assertEquals(0, last.orElseThrow().get());
  }

  @Test
  void tasksComeBackAlthoughOneFails() throws Exception {
    CountDownLatch twice = new CountDownLatch(2);
    evidence.schedule(
        Duration.ZERO,
        () -> {
          throw new IllegalStateException("a bug");
        });
    evidence.schedule(
        Duration.ZERO,
        () -> {
          twice.countDown();
          return Duration.ZERO;
        });
    twice.await();
    assertTrue(failure.get() instanceof IllegalStateException, "" + failure.get());
    assertEquals(7, evidence.ask(() -> 7).orElseThrow().get());
  }
}
