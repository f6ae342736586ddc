package ipmasq.sync;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Why the main thread wakes up. */
public enum Trigger {
  /** The agent starts. */
  START("start"),
  /** The config file may have changed. */
  CONFIG("config"),
  /** The rules may have changed. */
  RULES("drift"),
  /** The resync interval has passed. */
  RESYNC("resync"),
  /** The last sync failed. */
  RETRY("retry"),
  /** The agent is to stop. */
  STOP("stop");

  private final String word;

  Trigger(String word) {
    this.word = word;
  }

  /** As logs and metrics name it. */
  @Override
  public String toString() {
    return word;
  }

  /**
   * Triggers on their way from other threads to the main thread. Safe for use by several threads;
   * one of them waits, and gets all that were posted meanwhile together.
   */
  public static final class Queue {
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
}
