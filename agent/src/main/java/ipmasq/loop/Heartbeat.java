package ipmasq.loop;

import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Tells whether the loop makes progress. The loop's thread beats; any thread may ask.
 *
 * <p>Each beat says when the next one is due. A pass beats when it begins and when it ends. It may
 * be slow: a hanging iptables is killed only after 30 s, and there are two families.
 */
public final class Heartbeat {
  /** How late a beat may be before the loop counts as stuck. */
  static final Duration PATIENCE = Duration.ofMinutes(2);

  private final LongSupplier nanos;
  private volatile Beat last;

  private record Beat(Thread loop, long at, long due) {}

  /**
   * Begins with a beat.
   *
   * @param nanos a clock that never jumps, such as {@link System#nanoTime}
   */
  public Heartbeat(LongSupplier nanos) {
    this.nanos = nanos;
    last = new Beat(Thread.currentThread(), nanos.getAsLong(), nanos.getAsLong());
  }

  /**
   * The loop is alive.
   *
   * @param next the longest time until the next beat, if all goes well
   */
  public void beat(Duration next) {
    long now = nanos.getAsLong();
    last = new Beat(Thread.currentThread(), now, now + next.toNanos());
  }

  /** Whether a pass is under way. */
  public boolean inPass() {
    Beat beat = last;
    return beat.due == beat.at;
  }

  /** What is wrong, as a sentence without its full stop; empty while the loop makes progress. */
  public Optional<String> stuck() {
    Beat beat = last;
    long now = nanos.getAsLong();
    if (now - beat.due < PATIENCE.toNanos()) {
      return Optional.empty();
    }
    return Optional.of(
        "the loop has made no progress for " + seconds(now - beat.at) + " s" + where(beat.loop));
  }

  private static long seconds(long nanos) {
    return nanos / 1_000_000_000;
  }

  /** The innermost method of this project on the loop's stack, to help find the cause. */
  private static String where(Thread loop) {
    for (StackTraceElement frame : loop.getStackTrace()) {
      if (frame.getClassName().startsWith("ipmasq.")) {
        return " (in " + frame.getClassName() + "." + frame.getMethodName() + ")";
      }
    }
    return "";
  }
}
