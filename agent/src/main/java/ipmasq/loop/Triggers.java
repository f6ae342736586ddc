package ipmasq.loop;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Where watchers leave word for the loop. Safe for use by several threads; one of them awaits.
 *
 * <p>A burst of the same trigger is one: what was posted before the loop looked is handed over
 * together.
 *
 * <p>The loop parks instead of waiting on a monitor, which the JVM would inflate anew each time.
 */
public final class Triggers {
  private final EnumSet<Trigger> posted = EnumSet.noneOf(Trigger.class);
  private volatile boolean any;
  private volatile @Nullable Thread waiting;

  public void post(Trigger trigger) {
    synchronized (posted) {
      posted.add(trigger);
      any = true;
    }
    LockSupport.unpark(waiting);
  }

  /** What was posted since the last call; empty when nothing was within so many nanoseconds. */
  Set<Trigger> await(long atMost) throws InterruptedException {
    long end = System.nanoTime() + atMost;
    waiting = Thread.currentThread();
    while (!any) {
      long left = end - System.nanoTime();
      if (left <= 0) {
        return Set.of();
      }
      LockSupport.parkNanos(this, left);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    synchronized (posted) {
      EnumSet<Trigger> taken = EnumSet.copyOf(posted);
      posted.clear();
      any = false;
      return taken;
    }
  }
}
