package ipmasq.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.testkit.KernelTest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random sequences of faults, one on top of the other; a moment after the last one is over, the
 * node is right.
 *
 * <p>Each sequence has a seed of its own, which is printed. {@code make fault-test SEED=… COUNT=1}
 * does one again: the same faults in the same order, though not to the same microsecond.
 */
@KernelTest
@Tag("fault")
@Execution(ExecutionMode.CONCURRENT)
class RandomFaultsTest {
  private static final int COUNT = Integer.getInteger("ipmasq.faults.count", Form.of(5, 500));
  private static final long SEED =
      Long.getLong("ipmasq.faults.seed", System.currentTimeMillis() / 1000);

  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void theNodeIsRightAfterAnySequence(String backend, @TempDir Path directory) {
    List<String> failures = new ArrayList<>();
    Wanted wanted = Wanted.by(backend);
    for (int i = 0; i < COUNT; i++) {
      long seed = SEED + i;
      Random random = new Random(seed);
      List<Fault> faults =
          IntStream.range(0, random.nextInt(3, 9))
              .mapToObj(_ -> Fault.values()[random.nextInt(Fault.values().length)])
              .toList();
      String what = (i + 1) + " of " + COUNT + ", " + backend + ", seed " + seed + ": " + faults;
      try (Victim victim = Victim.start(backend, wanted, random, directory.resolve("" + i))) {
        for (Fault fault : faults) {
          fault.strike(victim);
          victim.dwell();
        }
        System.out.println(what + ": right after " + victim.recovery().toMillis() + " ms");
      } catch (AssertionError | RuntimeException e) {
        System.out.println(what + ": WRONG: " + e.getMessage());
        failures.add(what + ": " + e);
      }
    }
    assertEquals(List.of(), failures);
  }
}
