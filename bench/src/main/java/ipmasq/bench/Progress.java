package ipmasq.bench;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;

/**
 * Says on stderr what is being measured and about how long is left: the whole takes minutes. Used
 * by one thread.
 */
final class Progress {
  private static final long START = System.nanoTime();
  private static final Deque<Integer> PLANNED = new ArrayDeque<>();
  private static double finishedPlanned;
  private static double partBegan;

  private Progress() {}

  /** How many seconds each part will take on a calm machine. */
  static void plan(Collection<Integer> seconds) {
    PLANNED.addAll(seconds);
  }

  static void say(String what) {
    System.err.printf("bench: %3.0f s, about %.0f s left: %s%n", elapsed(), left(), what);
  }

  /** The current part is over. */
  static void next() {
    finishedPlanned += PLANNED.remove();
    partBegan = elapsed();
  }

  /** What was planned, at the pace of the parts that are over. */
  private static double left() {
    double planned = PLANNED.stream().mapToInt(Integer::intValue).sum();
    double pace = finishedPlanned > 0 ? partBegan / finishedPlanned : 1;
    return Math.max(0, planned * pace - (elapsed() - partBegan));
  }

  private static double elapsed() {
    return (System.nanoTime() - START) / 1e9;
  }
}
