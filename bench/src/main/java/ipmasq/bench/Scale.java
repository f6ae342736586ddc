package ipmasq.bench;

import java.util.List;

/**
 * How much to measure.
 *
 * @param sizes numbers of ranges for the cost of flows
 * @param loads numbers of ranges for loading them
 * @param repetitions of what takes microseconds
 * @param few repetitions of what takes longer
 * @param idleSeconds how long idle agents are watched
 * @param updates changes under a stream of flows
 */
record Scale(
    List<Integer> sizes,
    List<Integer> loads,
    int repetitions,
    int few,
    int idleSeconds,
    int updates) {

  static final Scale FULL =
      new Scale(
          List.of(64, 1_000, 10_000, 100_000),
          List.of(64, 1_000, 10_000, 100_000, 1_000_000),
          15,
          5,
          60,
          1_000);

  /** Whether it all still works, in about two minutes. */
  static final Scale QUICK = new Scale(List.of(64, 1_000), List.of(64, 1_000, 10_000), 3, 2, 6, 50);
}
