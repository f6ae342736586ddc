package ipmasq.status;

import java.util.ArrayList;
import java.util.List;

/**
 * A number for each of the last sixty minutes, in a ring. Minutes are those of a monotonic clock,
 * not wall-clock time. Used by one thread.
 */
final class MinuteSeries {
  static final int MINUTES = 60;
  static final long NANOS = 60_000_000_000L;

  private final double[] ring = new double[MINUTES];
  private long newest = Long.MIN_VALUE;

  static long minute(long nanos) {
    return Math.floorDiv(nanos, NANOS);
  }

  /** Spreads what happened between two times evenly over the minutes between them. */
  void add(long amount, long from, long to) {
    advance(minute(to));
    if (from >= to) {
      ring[slot(newest)] += amount;
      return;
    }
    for (long m = Math.max(minute(from), newest - MINUTES + 1); m <= newest; m++) {
      long start = Math.max(from, m * NANOS);
      long end = Math.min(to, (m + 1) * NANOS);
      ring[slot(m)] += (double) amount * (end - start) / (to - from);
    }
  }

  private void advance(long minute) {
    for (long m = Math.max(newest + 1, minute - MINUTES + 1); m <= minute; m++) {
      ring[slot(m)] = 0;
    }
    newest = Math.max(newest, minute);
  }

  /** The values of these minutes, rounded to a tenth. */
  List<Double> values(long first, long last) {
    advance(last);
    List<Double> values = new ArrayList<>();
    for (long m = first; m <= last; m++) {
      values.add(Math.rint(ring[slot(m)] * 10) / 10);
    }
    return values;
  }

  double sum(long now) {
    advance(minute(now));
    double sum = 0;
    for (double value : ring) {
      sum += value;
    }
    return sum;
  }

  private static int slot(long minute) {
    return Math.floorMod(minute, MINUTES);
  }
}
