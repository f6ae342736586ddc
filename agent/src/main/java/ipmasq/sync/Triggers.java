package ipmasq.sync;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Triggers on their way from the watchers to the loop. Safe for use by several threads; one of them
 * waits.
 *
 * <p>Equal triggers are merged; all that were posted before the loop looks are handed over
 * together.
 */
public final class Triggers {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition any = lock.newCondition();
  private final EnumSet<Trigger> posted = EnumSet.noneOf(Trigger.class);

  public void post(Trigger trigger) {
    lock.lock();
    try {
      posted.add(trigger);
      any.signal();
    } finally {
      lock.unlock();
    }
  }

  /** The triggers posted since the last call; empty if none came within the given nanoseconds. */
  Set<Trigger> await(long atMost) throws InterruptedException {
    lock.lock();
    try {
      long left = atMost;
      while (posted.isEmpty() && left > 0) {
        left = any.awaitNanos(left);
      }
      EnumSet<Trigger> taken = EnumSet.copyOf(posted);
      posted.clear();
      return taken;
    } finally {
      lock.unlock();
    }
  }
}
