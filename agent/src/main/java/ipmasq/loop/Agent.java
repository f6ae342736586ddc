package ipmasq.loop;

import java.time.Duration;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The loop. All of it runs on the thread that calls {@link #run}; others only post triggers.
 *
 * <p>A pass is made at the start, when a trigger says that something may have changed, when a look
 * at the rules shows that somebody touched them, and when the resync interval has passed since the
 * last one. After a failure the next comes sooner.
 */
public final class Agent {
  private static final Duration FIRST_RETRY = Duration.ofSeconds(1);

  /** Whatever was in the way may end at any time, and until then the node's NAT may be wrong. */
  private static final Duration LAST_RETRY = Duration.ofSeconds(2);

  /** How many changed ranges leave garbage that is worth collecting. */
  private static final int LARGE = 1_000;

  /**
   * Where others commit all the time and it cannot be told cheaply whether our rules were meant,
   * looking at them takes no more than one part in so many of the time. Nor does what fails slowly.
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
   * @param watchInterval how often to look whether somebody touched the rules; zero: never
   * @param heartbeat beats while the loop makes progress
   * @param passes is told of each pass when it is over
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
        // Whoever took the memory may have given it back by then.
        Set<Trigger> posted = rest(FIRST_RETRY.toNanos());
        why = posted.isEmpty() ? Set.of(Trigger.RETRY) : posted;
      }
    }
  }

  /** One pass, and the wait for what comes next. */
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
   * Lets the heap shrink after a large change. Java would keep what it once took for as long as the
   * agent idles. At the pass after it: until then the change itself is still held.
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

  /** Waits until there is something to do, or it is due anyway. */
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
