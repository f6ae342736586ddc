package ipmasq.sync;

import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Tells whether the main thread makes progress. It beats; any thread may ask.
 *
 * <p>Each beat says when the next one is due. A sync beats when it begins and when it ends.
 */
public final class Heartbeat {
  /** How late a beat may be before the main thread counts as stuck. */
  static final Duration PATIENCE = Duration.ofMinutes(2);

  /** From then on, what the last sync saw is no longer the present. */
  private static final Duration OLD = Duration.ofSeconds(3);

  private static final Duration TOO_LONG = Duration.ofSeconds(10);

  private final LongSupplier nanos;
  private final Supplier<Optional<Duration>> child;
  private volatile Beat last;

  private record Beat(long at, long due) {}

  /**
   * Begins with a beat.
   *
   * @param nanos a clock that never jumps, such as {@link System#nanoTime}
   * @param child how long the iptables that the main thread waits for may take, if it waits for one
   */
  public Heartbeat(LongSupplier nanos, Supplier<Optional<Duration>> child) {
    this.nanos = nanos;
    this.child = child;
    last = new Beat(nanos.getAsLong(), nanos.getAsLong());
  }

  /**
   * The main thread is alive.
   *
   * @param next the longest time until the next beat, if all goes well
   */
  public void beat(Duration next) {
    long now = nanos.getAsLong();
    last = new Beat(now, now + next.toNanos());
  }

  /** Whether a sync is under way. */
  public boolean inSync() {
    Beat beat = last;
    return beat.due == beat.at;
  }

  /**
   * A sync that takes long, so that the state of the rules is unknown.
   *
   * @param duration how long it has taken
   * @param what what it waits for: {@code waiting for iptables}
   * @param tooLong whether the node should count as not ready
   */
  public record Wait(Duration duration, String what, boolean tooLong) {}

  /** The sync that takes long at the moment; empty if there is none. */
  public Optional<Wait> waiting() {
    Beat beat = last;
    Duration taken = Duration.ofNanos(nanos.getAsLong() - beat.at);
    if (beat.due != beat.at || taken.compareTo(OLD) < 0) {
      return Optional.empty();
    }
    Optional<Duration> deadline = child.get(); // a large restore may take longer
    Duration limit = deadline.filter(it -> it.compareTo(TOO_LONG) > 0).orElse(TOO_LONG);
    String what = deadline.isPresent() ? "waiting for iptables" : "a sync is under way";
    return Optional.of(new Wait(taken, what, taken.compareTo(limit) >= 0));
  }

  /**
   * What is wrong, as a sentence without its full stop; empty while the main thread makes progress.
   */
  public Optional<String> stuck() {
    Beat beat = last;
    long now = nanos.getAsLong();
    if (now - beat.due < PATIENCE.toNanos()) {
      return Optional.empty();
    }
    long seconds = Duration.ofNanos(now - beat.at).toSeconds();
    return Optional.of("no progress for " + seconds + " s");
  }
}
