package ipmasq.status;

import ipmasq.loop.Trigger;
import ipmasq.net.Family;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * What was counted since the start.
 *
 * @param passes by what woke the loop; a pass with several reasons counts for the first of them
 * @param changes passes that wrote rules, by family
 * @param repairs those of them that undid another program's change
 * @param failures passes that could not, by family
 * @param flows flows under way that were made to follow new rules
 * @param rejections how often a config file was found bad that was not before
 * @param durations how many passes took at most as long as each of {@link #BOUNDS}, not cumulative;
 *     the last: longer than all
 */
public record Totals(
    Map<Trigger, Long> passes,
    Map<Family, Long> changes,
    Map<Family, Long> repairs,
    Map<Family, Long> failures,
    long flows,
    long rejections,
    List<Long> durations,
    Duration spent) {

  /** Bounds of the histogram of pass durations, in milliseconds. */
  static final long[] BOUNDS = {5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000};

  public Totals {
    passes = Map.copyOf(passes);
    changes = Map.copyOf(changes);
    repairs = Map.copyOf(repairs);
    failures = Map.copyOf(failures);
    durations = List.copyOf(durations);
  }

  public long allPasses() {
    return sum(passes);
  }

  static long sum(Map<?, Long> counts) {
    long sum = 0;
    for (long count : counts.values()) {
      sum += count;
    }
    return sum;
  }
}
