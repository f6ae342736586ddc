package ipmasq.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A logarithmic axis between two powers of ten, given by their exponents. */
record Axis(int first, int last) {
  /** One that holds these values. */
  static Axis of(Stream<Double> values) {
    List<Double> sorted = values.sorted().toList();
    int first = (int) Math.floor(Math.log10(sorted.getFirst()));
    int last = (int) Math.ceil(Math.log10(sorted.getLast()));
    return new Axis(first, Math.max(last, first + 1));
  }

  /** Where a value lies between the ends, from 0 to 1. */
  double share(double value) {
    return (Math.log10(value) - first) / (last - first);
  }

  List<Double> ticks() {
    List<Double> ticks = new ArrayList<>();
    for (int exponent = first; exponent <= last; exponent++) {
      ticks.add(Math.pow(10, exponent));
    }
    return ticks;
  }
}
