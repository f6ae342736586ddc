package ipmasq.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class SamplesTest {
  @Test
  void theMedianLiesInTheMiddle() {
    assertEquals(3, Samples.of(9, 1, 3).median());
    assertEquals(2, Samples.of(1, 3).median());
    assertEquals(1, Samples.of(9, 1, 3).min());
    assertEquals(9, Samples.of(9, 1, 3).max());
  }

  @Test
  void ratiosAreTakenWithinEachRepetition() {
    // The machine was ten times slower in the second repetition; both felt it.
    assertEquals(2, Samples.of(2, 20, 2).ratioTo(Samples.of(1, 10, 1)));
  }
}
