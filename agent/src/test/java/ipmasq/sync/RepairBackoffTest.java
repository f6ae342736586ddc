package ipmasq.sync;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RepairBackoffTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private final RepairBackoff fight = new RepairBackoff();
  private long now = -5 * SECOND; // such clocks begin anywhere

  @Test
  void aFewRepairsComeAtOnce() {
    for (int i = 0; i < 3; i++) {
      assertFalse(fight.holdsBack(now));
      fight.repaired(now++);
    }
    assertFalse(fight.on(now));
    assertFalse(fight.holdsBack(now));
  }

  @Test
  void whereEachIsUndoneAtOnceTwoSecondsPassBetweenThem() {
    int repairs = 0;
    for (long end = now + 60 * SECOND; now < end; now += SECOND / 10) {
      if (!fight.holdsBack(now)) {
        fight.repaired(now);
        repairs++;
      }
    }
    assertTrue(fight.on(now));
    assertTrue(repairs >= 30 && repairs <= 36, "repairs: " + repairs);
  }

  /** As an agent of another version does that writes its rules once a minute. */
  @Test
  void aSlowFightIsOneToo() {
    for (int i = 0; i < 4; i++) {
      assertFalse(fight.on(now));
      now += 60 * SECOND;
      fight.repaired(now);
    }
    now += 59 * SECOND;
    assertTrue(fight.on(now));
    assertFalse(fight.holdsBack(now));
    now += 122 * SECOND;
    assertFalse(fight.on(now));
  }

  @Test
  void aQuietWhileEndsIt() {
    for (int i = 0; i < 10; i++) {
      fight.repaired(now++);
    }
    assertTrue(fight.on(now));
    now += 21 * SECOND;
    assertFalse(fight.on(now));
    fight.repaired(now++);
    assertFalse(fight.holdsBack(now));
  }
}
