package ipmasq.sync;

import java.time.Duration;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Runs syncs on the thread that calls {@link #run}, {@code main}; other threads only post triggers.
 *
 * <p>A sync runs at startup, when a trigger reports a possible change, when the watch sees that the
 * rules changed, and when the resync interval has passed. After a failure the next sync comes
 * sooner.
 */
public final class Agent {
  private static final long FIRST_RETRY = Duration.ofSeconds(1).toNanos();

  /** The cause may go away at any time, and until then the node's NAT may be wrong. */
  private static final long LAST_RETRY = Duration.ofSeconds(2).toNanos();

  /**
   * After a false alarm the watch rests for this many times the sync's duration, and retries of a
   * slow failure space out up to it. Other programs may commit all the time.
   */
  private static final int CALM = 10;

  private final Sync sync;
  private final Trigger.Queue triggers;
  private final long watchNanos;
  private final BooleanSupplier configOverdue;
  private final Heartbeat heartbeat;
  private final Consumer<SyncReport> reports;
  private final RepairBackoff backoff = new RepairBackoff();
  private long retry = FIRST_RETRY;

  /**
   * @param watchInterval how often to check whether the rules changed; zero: never
   * @param configOverdue whether the config has not been readable for so long that a sync should
   *     say so
   * @param heartbeat beats while the main thread makes progress
   * @param reports receives each report
   */
  public Agent(
      Sync sync,
      Trigger.Queue triggers,
      Duration watchInterval,
      BooleanSupplier configOverdue,
      Heartbeat heartbeat,
      Consumer<SyncReport> reports) {
    this.sync = sync;
    this.triggers = triggers;
    this.watchNanos = watchInterval.toNanos();
    this.configOverdue = configOverdue;
    this.heartbeat = heartbeat;
    this.reports = reports;
  }

  /** Runs until {@link Trigger#STOP} is posted. */
  public void run() throws InterruptedException {
    Set<Trigger> why = Set.of(Trigger.START);
    while (!why.contains(Trigger.STOP)) {
      why = syncAndWait(why);
    }
  }

  /** Runs one sync, then waits for the next triggers. */
  private Set<Trigger> syncAndWait(Set<Trigger> why) throws InterruptedException {
    heartbeat.beat(Duration.ZERO);
    SyncReport report = sync.run(why, backoff.on(System.nanoTime()));
    if (report.changed() && report.why().contains(Trigger.RULES)) {
      backoff.repaired(System.nanoTime());
    }
    reports.accept(report);
    boolean falseAlarm = why.contains(Trigger.RULES) && !report.changed();
    return report.failed() ? afterFailure(report) : afterSuccess(report, falseAlarm);
  }

  private Set<Trigger> afterSuccess(SyncReport report, boolean falseAlarm)
      throws InterruptedException {
    retry = FIRST_RETRY;
    long over = System.nanoTime();
    long due = over + report.config().resyncInterval().toNanos();
    long calm = over + (falseAlarm ? report.took().toNanos() * CALM : 0);
    return await(due, Trigger.RESYNC, calm, sync::disturbed);
  }

  private Set<Trigger> afterFailure(SyncReport report) throws InterruptedException {
    long longest = Math.max(LAST_RETRY, report.took().toNanos() * CALM);
    long wait = Math.min(retry, Math.min(longest, report.config().resyncInterval().toNanos()));
    retry = 2 * wait;
    long now = System.nanoTime();
    return await(now + wait, Trigger.RETRY, now, sync::moved);
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
      if (configOverdue.getAsBoolean()) {
        return Set.of(Trigger.CONFIG);
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
