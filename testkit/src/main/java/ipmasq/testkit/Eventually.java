package ipmasq.testkit;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Waits for a condition of the world outside the JVM, which cannot wake anybody up. */
public final class Eventually {
  private static final Duration DEADLINE = Duration.ofSeconds(10);
  private static final Duration PAUSE = Duration.ofMillis(5);

  private Eventually() {}

  /** Something to look at, again and again. */
  @FunctionalInterface
  public interface Look<T, X extends Exception> {
    T now() throws X;
  }

  /** Looks until what it sees is good, and returns that. */
  public static <T, X extends Exception> T eventually(
      String what, Look<T, X> look, Predicate<? super T> good) throws X {
    return within(DEADLINE, what, look, good);
  }

  /**
   * Looks until what it sees is good, and returns that. A look that ends in an {@link
   * AssertionError} has seen nothing good.
   *
   * @param what is waited for, in words; the error quotes them, with what was seen last
   */
  public static <T, X extends Exception> T within(
      Duration deadline, String what, Look<T, X> look, Predicate<? super T> good) throws X {
    long until = System.nanoTime() + deadline.toNanos();
    while (true) {
      Object last;
      @Nullable AssertionError cause = null;
      try {
        T value = look.now();
        if (good.test(value)) {
          return value;
        }
        last = value;
      } catch (AssertionError notYet) {
        last = notYet.getMessage();
        cause = notYet;
      }
      if (System.nanoTime() >= until) {
        throw new AssertionError("not within " + deadline + ": " + what + "; last: " + last, cause);
      }
      if (Thread.interrupted()) {
        throw new IllegalStateException("interrupted while waiting for: " + what);
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }
}
