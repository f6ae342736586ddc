package ipmasq.loop;

import java.time.Duration;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The reconcile loop. It runs on the thread that calls {@link #run}; other threads only post
 * triggers.
 *
 * <p>A pass runs at startup, when a trigger reports a possible change, when the watch sees that the
 * rules changed, and when the resync interval has passed. After a failure the next pass comes
 * sooner.
 */
public final class Agent {
  private static final Duration FIRST_RETRY = Duration.ofSeconds(1);

  /** The cause may go away at any time, and until then the node's NAT may be wrong. */
  private static final Duration LAST_RETRY = Duration.ofSeconds(2);

  /** From this many changed ranges on, the garbage is worth collecting. */
  private static final int LARGE = 1_000;

  /**
   * After a false alarm the watch rests for this many times the pass's duration, and retries of a
   * slow failure space out up to it. Other programs may commit all the time.
   */
  private static final int CALM = 10;

  private final Sync sync;
  private final Triggers triggers;
  private final long watchNanos;
  private final Heartbeat heartbeat;
  private final Consumer<Pass> passes;
  private final RepairBackoff backoff = new RepairBackoff();
  private Duration retry = FIRST_RETRY;
  private int lastChanges;

  /**
   * @param watchInterval how often to check whether the rules changed; zero: never
   * @param heartbeat beats while the loop makes progress
   * @param passes receives each pass when it is over
   */
  public Agent(
      Sync sync,
      Triggers triggers,
      Duration watchInterval,
      Heartbeat heartbeat,
      Consumer<Pass> passes) {
    this.sync = sync;
    this.triggers = triggers;
    this.watchNanos = watchInterval.toNanos();
    this.heartbeat = heartbeat;
    this.passes = passes;
  }

  /** Runs until {@link Trigger#STOP} is posted. */
  public void run() throws InterruptedException {
    Set<Trigger> why = Set.of(Trigger.START);
    while (!why.contains(Trigger.STOP)) {
      try {
        why = round(why);
      } catch (OutOfMemoryError full) {
        // The memory may be free again by then.
        Set<Trigger> posted = rest(FIRST_RETRY.toNanos());
        why = posted.isEmpty() ? Set.of(Trigger.RETRY) : posted;
      }
    }
  }

  /** Runs one pass, then waits for the next triggers. */
  private Set<Trigger> round(Set<Trigger> why) throws InterruptedException {
    heartbeat.beat(Duration.ZERO);
    Pass pass = sync.pass(why, backoff.on(System.nanoTime()));
    if (pass.changed() && pass.why().contains(Trigger.RULES)) {
      backoff.repaired(System.nanoTime());
    }
    passes.accept(pass);
    giveBack(pass);
    boolean falseAlarm = why.contains(Trigger.RULES) && !pass.changed();
    return pass.failed() ? afterFailure(pass) : afterSuccess(pass, falseAlarm);
  }

  /**
   * Lets the heap shrink after a large change. Otherwise Java would keep that memory while the
   * agent idles. Runs one pass later, because until then the change itself is still referenced.
   */
  private void giveBack(Pass pass) {
    int changes = pass.changes();
    if (lastChanges >= LARGE && changes < LARGE) {
      System.gc();
    }
    lastChanges = changes;
  }

  private Set<Trigger> afterSuccess(Pass pass, boolean falseAlarm) throws InterruptedException {
    retry = FIRST_RETRY;
    long over = System.nanoTime();
    long due = over + pass.config().resyncInterval().toNanos();
    long calm = over + (falseAlarm ? pass.took().toNanos() * CALM : 0);
    return await(due, Trigger.RESYNC, calm, sync::disturbed);
  }

  private Set<Trigger> afterFailure(Pass pass) throws InterruptedException {
    Duration longest = longer(LAST_RETRY, pass.took().multipliedBy(CALM));
    Duration wait = shorter(retry, shorter(longest, pass.config().resyncInterval()));
    retry = wait.multipliedBy(2);
    long now = System.nanoTime();
    return await(now + wait.toNanos(), Trigger.RETRY, now, sync::moved);
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  /** Waits for a trigger, a change of the rules, or the due time. */
  private Set<Trigger> await(long due, Trigger whenDue, long calm, BooleanSupplier touched)
      throws InterruptedException {
    while (true) {
      long left = due - System.nanoTime();
      if (left <= 0) {
        return Set.of(whenDue);
      }
      boolean watching = watchNanos > 0 && sync.watches();
      Set<Trigger> posted = rest(watching ? Math.min(left, watchNanos) : left);
      if (!posted.isEmpty()) {
        return posted;
      }
      long now = System.nanoTime();
      if (watching && now - calm >= 0 && !backoff.holdsBack(now) && touched.getAsBoolean()) {
        return Set.of(Trigger.RULES);
      }
    }
  }

  private Set<Trigger> rest(long nanos) throws InterruptedException {
    heartbeat.beat(Duration.ofNanos(nanos));
    return triggers.await(nanos);
  }
}
