package ipmasq.loop;

import java.time.Duration;
import java.util.Set;
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

  /** How many changed ranges leave garbage that is worth collecting. */
  private static final int LARGE = 1_000;

  /**
   * Where others commit all the time and it cannot be told cheaply whether our rules were meant,
   * looking at them takes no more than one part in so many of the time.
   */
  private static final int CALM = 10;

  /**
   * So many looks Java takes to compile what a look consists of. Made all at once they take about a
   * tenth of a second; a few a second, they would be slow ones for ten minutes or more.
   */
  private static final int REHEARSALS = 4_096;

  /** On a busy node the compiler is behind: it gets a moment after each so many. */
  private static final int AT_A_STRETCH = 256;

  private static final long MOMENT_NANOS = 5_000_000;

  private final Sync sync;
  private final Triggers triggers;
  private final long watchNanos;
  private final Consumer<Pass> passes;
  private final Fight fight = new Fight();
  private Duration retry = FIRST_RETRY;
  private int lastChanges;
  private int rehearsed;

  /**
   * @param watchInterval how often to look whether somebody touched the rules, half as often where
   *     all is quiet; zero: never
   * @param passes is told of each pass when it is over
   */
  public Agent(Sync sync, Triggers triggers, Duration watchInterval, Consumer<Pass> passes) {
    this.sync = sync;
    this.triggers = triggers;
    this.watchNanos = watchInterval.toNanos();
    this.passes = passes;
  }

  /** Runs until {@link Trigger#STOP} is posted. */
  public void run() throws InterruptedException {
    Set<Trigger> why = Set.of(Trigger.START);
    while (!why.contains(Trigger.STOP)) {
      Pass pass = sync.pass(why, fight.on(System.nanoTime()));
      if (pass.changed() && pass.why().contains(Trigger.RULES)) {
        fight.repaired(System.nanoTime());
      }
      passes.accept(pass);
      giveBack(pass);
      boolean falseAlarm = why.contains(Trigger.RULES) && !pass.changed();
      why = pass.enforced() ? afterSuccess(pass, falseAlarm) : afterFailure(pass);
    }
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
    Set<Trigger> why = rehearse(due, calm);
    return why.isEmpty() ? await(due, calm, Long.MAX_VALUE, Integer.MAX_VALUE) : why;
  }

  /** Makes the looks that are still to be rehearsed, unless there is something to do. */
  private Set<Trigger> rehearse(long due, long calm) throws InterruptedException {
    Set<Trigger> why = Set.of();
    while (rehearsed < REHEARSALS && why.isEmpty() && watching()) {
      why = await(due, calm, rehearsed % AT_A_STRETCH == 0 ? MOMENT_NANOS : 0, 1);
      rehearsed++;
    }
    return why;
  }

  /**
   * Waits until there is something to do, or so many looks were made. It is rehearsed as a whole:
   * the little that would be left to be interpreted is cold each time.
   *
   * @param pause nanoseconds before a look where that is less than usual
   */
  private Set<Trigger> await(long due, long calm, long pause, int looks)
      throws InterruptedException {
    for (int look = 0; look < looks; look++) {
      long left = due - System.nanoTime();
      if (left <= 0) {
        return Set.of(Trigger.RESYNC);
      }
      boolean watching = watching();
      long interval = sync.quiet() ? 2 * watchNanos : watchNanos;
      Set<Trigger> posted =
          triggers.await(watching ? Math.min(left, Math.min(pause, interval)) : left);
      if (!posted.isEmpty()) {
        return posted;
      }
      long now = System.nanoTime();
      if (watching && now - calm >= 0 && !fight.holdsBack(now) && sync.disturbed()) {
        return Set.of(Trigger.RULES);
      }
    }
    return Set.of();
  }

  private boolean watching() {
    return watchNanos > 0 && sync.watches();
  }

  private Set<Trigger> afterFailure(Pass pass) throws InterruptedException {
    Duration resync = pass.config().resyncInterval();
    Duration wait = retry.compareTo(resync) < 0 ? retry : resync;
    retry = wait.multipliedBy(2);
    Set<Trigger> posted = triggers.await(wait.toNanos());
    return posted.isEmpty() ? Set.of(Trigger.RETRY) : posted;
  }
}
