package ipmasq.sync;

import java.time.Duration;

/**
 * Slows repairs while another program keeps undoing them. Used by one thread.
 *
 * <p>The first repairs are immediate. If each is undone within seconds, the delay doubles up to a
 * few seconds, so that two programs that disagree do not keep a node busy. It ends when nothing was
 * undone for a while, and for several times as long as it took lately: an agent that rewrites its
 * rules once a minute fights too.
 */
final class RepairBackoff {
  private static final int AT_ONCE = 3;
  private static final Duration FIRST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofSeconds(2);
  private static final Duration QUIET = Duration.ofSeconds(20);
  private static final Duration LONGEST_QUIET = Duration.ofMinutes(3);
  private static final int GAPS = 3;

  private int repairs;
  private long last;
  private long quietAfter;

  /** A repair was made at this moment, by a clock of nanoseconds. */
  void repaired(long now) {
    boolean first = quiet(now);
    quietAfter =
        first
            ? LONGEST_QUIET.toNanos()
            : Math.clamp(GAPS * (now - last), QUIET.toNanos(), LONGEST_QUIET.toNanos());
    repairs = first ? 1 : repairs + 1;
    last = now;
  }

  /** Whether the rules were changed again and again. */
  boolean on(long now) {
    return repairs > AT_ONCE && !quiet(now);
  }

  /** Whether it is too soon for another repair. */
  boolean holdsBack(long now) {
    if (!on(now)) {
      return false;
    }
    long wait = FIRST.toNanos() << Math.min(repairs - AT_ONCE - 1, 10);
    return now - last < Math.min(wait, LONGEST.toNanos());
  }

  private boolean quiet(long now) {
    return repairs == 0 || now - last > quietAfter;
  }
}
