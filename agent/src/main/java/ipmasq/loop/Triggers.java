package ipmasq.loop;

import java.time.Duration;
import java.util.EnumSet;

/**
 * Where watchers leave word for the loop. Safe for use by several threads; one of them awaits.
 *
 * <p>A burst of the same trigger is one: what was posted before the loop looked is handed over
 * together.
 */
public final class Triggers {
  private final EnumSet<Trigger> posted = EnumSet.noneOf(Trigger.class);

  public synchronized void post(Trigger trigger) {
    posted.add(trigger);
    notifyAll();
  }

  /** What was posted since the last call; empty when nothing was within {@code atMost}. */
  synchronized EnumSet<Trigger> await(Duration atMost) throws InterruptedException {
    long end = System.nanoTime() + atMost.toNanos();
    while (posted.isEmpty()) {
      long left = end - System.nanoTime();
      if (left <= 0) {
        break;
      }
      // Rounded up: waking a fraction of a millisecond early would only mean waking twice.
      wait(left / 1_000_000 + 1);
    }
    EnumSet<Trigger> taken = EnumSet.copyOf(posted);
    posted.clear();
    return taken;
  }
}
