package ipmasq.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Measurements of one thing, in the order of the repetitions. Used by one thread. */
final class Samples {
  private final List<Double> values = new ArrayList<>();

  static Samples of(double... values) {
    Samples samples = new Samples();
    Arrays.stream(values).forEach(samples::add);
    return samples;
  }

  /** Those of one among several, which must have been measured. */
  static <K> Samples in(Map<K, Samples> all, K one) {
    return Objects.requireNonNull(all.get(one), () -> "not measured: " + one);
  }

  void add(double value) {
    values.add(value);
  }

  boolean isEmpty() {
    return values.isEmpty();
  }

  int count() {
    return values.size();
  }

  double median() {
    return percentile(0.5);
  }

  double mean() {
    return values.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
  }

  double min() {
    return percentile(0);
  }

  double max() {
    return percentile(1);
  }

  /** What stands for all of them, and in brackets the least and the most. */
  String spread(double middle, Unit unit) {
    return unit.text(middle) + " (" + unit.text(min()) + " … " + unit.text(max()) + ")";
  }

  /** Between two samples, in proportion. */
  private double percentile(double share) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    double at = share * (sorted.length - 1);
    int below = (int) Math.floor(at);
    int above = (int) Math.ceil(at);
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
  }

  /** The median of the ratios within each repetition: what slows both down does not count. */
  double ratioTo(Samples other) {
    Samples ratios = new Samples();
    for (int i = 0; i < Math.min(count(), other.count()); i++) {
      ratios.add(values.get(i) / other.values.get(i));
    }
    return ratios.median();
  }
}
