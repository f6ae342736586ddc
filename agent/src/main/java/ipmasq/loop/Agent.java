package ipmasq.loop;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The loop. All of it runs on the thread that calls {@link #run}; others only post triggers.
 *
 * <p>A pass is made at the start, when a trigger says that something may have changed, and when the
 * resync interval has passed since the last one. After a failure the next comes sooner.
 */
public final class Agent {
  private static final Duration FIRST_RETRY = Duration.ofSeconds(1);

  private final Sync sync;
  private final Triggers triggers;
  private final Consumer<Pass> passes;

  /**
   * @param passes is told of each pass when it is over
   */
  public Agent(Sync sync, Triggers triggers, Consumer<Pass> passes) {
    this.sync = sync;
    this.triggers = triggers;
    this.passes = passes;
  }

  /** Runs until {@link Trigger#STOP} is posted. */
  public void run() throws InterruptedException {
    Set<Trigger> why = EnumSet.of(Trigger.START);
    Duration retry = FIRST_RETRY;
    while (!why.contains(Trigger.STOP)) {
      Pass pass = sync.pass(why);
      passes.accept(pass);
      Duration resync = pass.config().resyncInterval();
      if (pass.enforced()) {
        retry = FIRST_RETRY;
        why = next(resync, Trigger.RESYNC);
      } else {
        Duration wait = retry.compareTo(resync) < 0 ? retry : resync;
        why = next(wait, Trigger.RETRY);
        retry = wait.multipliedBy(2);
      }
    }
  }

  private Set<Trigger> next(Duration wait, Trigger otherwise) throws InterruptedException {
    Set<Trigger> posted = triggers.await(wait);
    return posted.isEmpty() ? EnumSet.of(otherwise) : posted;
  }
}
