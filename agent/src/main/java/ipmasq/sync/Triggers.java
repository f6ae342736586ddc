package ipmasq.sync;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Triggers on their way from the watchers to the loop. Safe for use by several threads; one of them
 * waits, and gets all that were posted meanwhile together.
 */
public final class Triggers {
  private final BlockingQueue<Trigger> posted = new LinkedBlockingQueue<>();

  public void post(Trigger trigger) {
    posted.add(trigger);
  }

  /** The triggers posted since the last call; empty if none came within the given nanoseconds. */
  Set<Trigger> await(long atMost) throws InterruptedException {
    Set<Trigger> taken = EnumSet.noneOf(Trigger.class);
    Trigger first = posted.poll(atMost, TimeUnit.NANOSECONDS);
    if (first != null) {
      taken.add(first);
      posted.drainTo(taken);
    }
    return taken;
  }
}
