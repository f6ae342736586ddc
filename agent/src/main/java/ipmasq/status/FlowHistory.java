package ipmasq.status;

import ipmasq.json.Fields;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Tally;
import ipmasq.plan.Tally.Counter;
import ipmasq.status.Status.Sample;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Optional;

/**
 * How many flows there were in each minute of the last hour, by treatment and for the busiest
 * ranges. Bounded, however many ranges there are. Used by one thread.
 *
 * <p>It uses counter readings that are made anyway. The difference between two readings is spread
 * evenly over the time between them. Minutes are those of a monotonic clock.
 */
final class FlowHistory {
  /** The number of ranges followed per family. */
  static final int RANGES = 32;

  static final int MINUTES = 60;
  static final long MINUTE = 60_000_000_000L;

  private final Map<Family, Series> families = new EnumMap<>(Family.class);
  private Optional<Long> began = Optional.empty();

  /** One family's. */
  private static final class Series {
    private final double[] translated = new double[MINUTES];
    private final double[] exempted = new double[MINUTES];
    private final Map<Cidr, double[]> ranges = new HashMap<>();
    private Tally last;
    private long lastAt;

    Series(Tally first, long at) {
      last = first;
      lastAt = at;
    }

    void add(Tally tally, long now) {
      forget(now);
      spread(translated, since(last.translated(), tally.translated()), now);
      spread(exempted, since(last.exempted(), tally.exempted()), now);
      tally
          .ranges()
          .forEach(
              (range, counter) -> {
                long flows = since(last.ranges().getOrDefault(range, counter), counter);
                if (flows > 0 && (ranges.containsKey(range) || hasRoom(flows))) {
                  spread(ranges.computeIfAbsent(range, _ -> new double[MINUTES]), flows, now);
                }
              });
      last = tally;
      lastAt = now;
    }

    /** Empties the minutes that began since the last reading: theirs are those of an hour ago. */
    void forget(long now) {
      long newest = minute(now);
      for (long m = Math.max(minute(lastAt) + 1, newest - MINUTES + 1); m <= newest; m++) {
        int slot = slot(m);
        translated[slot] = 0;
        exempted[slot] = 0;
        ranges.values().forEach(ring -> ring[slot] = 0);
      }
    }

    private void spread(double[] ring, long amount, long now) {
      if (now == lastAt) {
        ring[slot(minute(now))] += amount;
        return;
      }
      for (long m = Math.max(minute(lastAt), minute(now) - MINUTES + 1); m <= minute(now); m++) {
        long part = Math.min(now, (m + 1) * MINUTE) - Math.max(lastAt, m * MINUTE);
        ring[slot(m)] += (double) amount * part / (now - lastAt);
      }
    }

    /** Whether one more range can be followed: perhaps instead of the quietest. */
    private boolean hasRoom(long flows) {
      if (ranges.size() < RANGES) {
        return true;
      }
      Entry<Cidr, double[]> quietest = byFlows().getLast();
      return sum(quietest.getValue()) < flows && ranges.remove(quietest.getKey()) != null;
    }

    List<Entry<Cidr, double[]>> byFlows() {
      return ranges.entrySet().stream()
          .sorted(Comparator.comparingDouble(entry -> -sum(entry.getValue())))
          .toList();
    }

    /** The flows of each minute, of these and of the busiest ranges. */
    Fields fields(Family family, long first, long now, int most) {
      forget(now);
      long last = minute(now);
      return new Fields()
          .with("family", family)
          .with("translated", values(translated, first, last))
          .with("exempted", values(exempted, first, last))
          .with(
              "ranges",
              byFlows().stream()
                  .filter(it -> sum(it.getValue()) > 0)
                  .limit(most)
                  .map(
                      it ->
                          new Fields()
                              .with("range", it.getKey())
                              .with("flows", values(it.getValue(), first, last)))
                  .toList());
    }

    /** A counter that went back was reset, because its rule was written again. */
    private static long since(Counter before, Counter now) {
      return now.packets() >= before.packets() ? now.packets() - before.packets() : now.packets();
    }

    private static double sum(double[] ring) {
      double sum = 0;
      for (double value : ring) {
        sum += value;
      }
      return sum;
    }

    /** Rounded to a tenth. */
    private static List<Double> values(double[] ring, long first, long last) {
      List<Double> values = new ArrayList<>();
      for (long m = first; m <= last; m++) {
        values.add(Math.rint(ring[slot(m)] * 10) / 10);
      }
      return values;
    }
  }

  private static long minute(long nanos) {
    return Math.floorDiv(nanos, MINUTE);
  }

  private static int slot(long minute) {
    return Math.floorMod(minute, MINUTES);
  }

  /** Adds a reading; the time is from a monotonic clock. */
  void record(Sample sample, long now) {
    for (Family family : sample.rules().keySet()) {
      sample
          .tally(family)
          .ifPresent(
              tally -> {
                began = began.or(() -> Optional.of(now));
                families.computeIfAbsent(family, _ -> new Series(tally, now)).add(tally, now);
              });
    }
    families.keySet().retainAll(sample.rules().keySet());
  }

  /**
   * The last hour, or less if less is known; nothing before the first reading.
   *
   * @param time what the clock on the wall shows now
   * @param ranges how many at most, the busiest first
   */
  Optional<Fields> hour(long now, Instant time, int ranges) {
    return began.map(
        start -> {
          long first = Math.max(minute(start), minute(now) - MINUTES + 1);
          List<Fields> all = new ArrayList<>();
          families.forEach((family, series) -> all.add(series.fields(family, first, now, ranges)));
          return new Fields()
              .with("now", time)
              .with("from", time.minusNanos(now - first * MINUTE))
              .with("known", time.minusNanos(now - start))
              .with("families", all);
        });
  }
}
