package ipmasq.status;

import ipmasq.backend.Observation;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Counter;
import ipmasq.plan.Tally;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How many flows there were in each minute of the last hour, by treatment and for the busiest
 * ranges. Bounded, however many ranges there are. Safe for use by several threads.
 *
 * <p>It uses counter readings that are made anyway. The difference between two readings is spread
 * evenly over the time between them.
 */
final class FlowHistory {
  /** The number of ranges followed per family. */
  static final int RANGES = 32;

  private final Map<Family, Flows> families = new EnumMap<>(Family.class);
  private long began;
  private boolean begun;

  /** One family's. */
  private static final class Flows {
    private final MinuteSeries translated = new MinuteSeries();
    private final MinuteSeries exempted = new MinuteSeries();
    private final Map<Cidr, MinuteSeries> ranges = new HashMap<>();
    private Tally last;
    private long lastAt;

    Flows(Tally first, long at) {
      last = first;
      lastAt = at;
    }

    void add(Tally tally, long now) {
      translated.add(since(last.translated(), tally.translated()), lastAt, now);
      exempted.add(since(last.exempted(), tally.exempted()), lastAt, now);
      tally.ranges().forEach((range, counter) -> range(range, counter, now));
      last = tally;
      lastAt = now;
    }

    private void range(Cidr range, Counter counter, long now) {
      Counter before = last.ranges().get(range);
      long flows = before == null ? 0 : since(before, counter);
      if (flows == 0) {
        return; // most ranges, at most looks
      }
      MinuteSeries series = ranges.get(range);
      if (series == null) {
        if (ranges.size() >= RANGES && !makeRoom(flows, now)) {
          return;
        }
        series = new MinuteSeries();
        ranges.put(range, series);
      }
      series.add(flows, lastAt, now);
    }

    /**
     * Drops the quietest followed range if it has fewer flows than the new one; returns whether it
     * did.
     */
    private boolean makeRoom(long flows, long now) {
      Map.Entry<Cidr, MinuteSeries> quietest =
          ranges.entrySet().stream()
              .min(Comparator.comparingDouble(entry -> entry.getValue().sum(now)))
              .orElseThrow();
      return quietest.getValue().sum(now) < flows && ranges.remove(quietest.getKey()) != null;
    }

    /** A counter that went back was reset, because its rule was written again. */
    private static long since(Counter before, Counter now) {
      return now.packets() >= before.packets() ? now.packets() - before.packets() : now.packets();
    }
  }

  /** One range's flows, minute by minute. */
  record RangeFlows(Cidr range, List<Double> flows) {
    Map<String, Object> fields() {
      return StatusJson.pairs("range", range, "flows", flows);
    }
  }

  /** One family's flows, minute by minute; of ranges the busiest, and that one first. */
  record FamilyFlows(
      Family family, List<Double> translated, List<Double> exempted, List<RangeFlows> ranges) {
    Map<String, Object> fields() {
      return StatusJson.pairs(
          "family",
          family,
          "translated",
          translated,
          "exempted",
          exempted,
          "ranges",
          ranges.stream().map(RangeFlows::fields).toList());
    }
  }

  /**
   * The last hour, or less if less is known.
   *
   * @param age nanoseconds since the first of the minutes began
   * @param known nanoseconds since the first look at the counters
   */
  record Hour(long age, long known, List<FamilyFlows> families) {
    /** For JSON. */
    Map<String, Object> fields(Instant now) {
      return StatusJson.pairs(
          "now",
          now,
          "from",
          now.minusNanos(age),
          "known",
          now.minusNanos(known),
          "families",
          families.stream().map(FamilyFlows::fields).toList());
    }
  }

  /** Adds a reading; the time is from a monotonic clock. */
  synchronized void record(Map<Family, Observation> seen, long now) {
    seen.forEach((family, look) -> tally(look).ifPresent(tally -> record(family, tally, now)));
    families.keySet().retainAll(seen.keySet());
  }

  private void record(Family family, Tally tally, long now) {
    if (!begun) {
      begun = true;
      began = now;
    }
    @Nullable Flows flows = families.get(family);
    if (flows == null) {
      families.put(family, new Flows(tally, now));
    } else {
      flows.add(tally, now);
    }
  }

  private static Optional<Tally> tally(Observation observation) {
    return observation instanceof Observation.Seen(var observed)
        ? observed.tally()
        : Optional.empty();
  }

  /** What is known now; nothing before the first look. */
  synchronized Optional<Hour> hour(long now, int ranges) {
    if (!begun) {
      return Optional.empty();
    }
    long last = MinuteSeries.minute(now);
    long first = Math.max(MinuteSeries.minute(began), last - MinuteSeries.MINUTES + 1);
    List<FamilyFlows> all = new ArrayList<>();
    families.forEach(
        (family, flows) -> {
          List<RangeFlows> busiest =
              flows.ranges.entrySet().stream()
                  .filter(entry -> entry.getValue().sum(now) > 0)
                  .sorted(Comparator.comparingDouble(entry -> -entry.getValue().sum(now)))
                  .limit(ranges)
                  .map(
                      entry -> new RangeFlows(entry.getKey(), entry.getValue().values(first, last)))
                  .toList();
          all.add(
              new FamilyFlows(
                  family,
                  flows.translated.values(first, last),
                  flows.exempted.values(first, last),
                  busiest));
        });
    return Optional.of(new Hour(now - first * MinuteSeries.NANOS, now - began, all));
  }
}
