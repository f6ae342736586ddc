package ipmasq.bench;

import java.util.List;

/**
 * How much to measure.
 *
 * @param sizes numbers of ranges for the cost of flows
 * @param loads numbers of ranges for loading them
 * @param comeAndGo number of ranges that come and go
 * @param repetitions of what takes less than a second
 * @param few repetitions of what takes longer
 * @param waits how often to wait for a peer that acts once a minute
 * @param idleSeconds how long idle agents are watched
 * @param changeMillis the time between two changes of a neighbour's rules
 * @param updates changes under a stream of flows
 */
record Scale(
    List<Integer> sizes,
    List<Integer> loads,
    int comeAndGo,
    int repetitions,
    int few,
    int waits,
    int idleSeconds,
    int changeMillis,
    int updates) {

  static final Scale FULL =
      new Scale(
          List.of(64, 1_000, 10_000, 100_000),
          List.of(64, 1_000, 10_000, 100_000, 1_000_000),
          100_000,
          15,
          5,
          3,
          60,
          1_000,
          1_000);

  /** Whether it all still works, in about two minutes. */
  static final Scale QUICK =
      new Scale(List.of(64, 1_000), List.of(64, 1_000, 10_000), 10_000, 3, 1, 1, 10, 400, 50);

  boolean full() {
    return equals(FULL);
  }
}
