package ipmasq.loop;

import java.util.EnumSet;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Where watchers leave word for the loop. Safe for use by several threads; one of them awaits.
 *
 * <p>A burst of the same trigger is one: what was posted before the loop looked is handed over
 * together.
 */
public final class Triggers {
  private final EnumSet<Trigger> posted = EnumSet.noneOf(Trigger.class);
  private final Supplier<Rest> rests;
  private volatile boolean any;
  private volatile @Nullable Rest rest;

  /**
   * @param rests how to rest, asked for by the thread that awaits, when it first does: what can
   *     wait comes after the rules
   */
  public Triggers(Supplier<Rest> rests) {
    this.rests = rests;
  }

  public void post(Trigger trigger) {
    synchronized (posted) {
      posted.add(trigger);
      any = true;
    }
    Rest resting = rest;
    if (resting != null) {
      resting.end();
    }
  }

  /** What was posted since the last call; empty when nothing was within so many nanoseconds. */
  Set<Trigger> await(long atMost) throws InterruptedException {
    Rest here = rest();
    long end = System.nanoTime() + atMost;
    while (!any) {
      here.rest(Math.max(0, end - System.nanoTime()));
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (!any && System.nanoTime() - end >= 0) {
        return Set.of();
      }
    }
    synchronized (posted) {
      EnumSet<Trigger> taken = EnumSet.copyOf(posted);
      posted.clear();
      any = false;
      return taken;
    }
  }

  /** It is there before the loop looks whether anything was posted, so that no word is lost. */
  private Rest rest() {
    Rest known = rest;
    if (known == null) {
      known = rests.get();
      rest = known;
    }
    return known;
  }
}
