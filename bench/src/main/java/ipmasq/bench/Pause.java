package ipmasq.bench;

import java.util.concurrent.TimeUnit;

/** Lets time pass: here that is what is measured, not a way to wait for something. */
final class Pause {
  private Pause() {}

  static void seconds(int seconds) {
    millis(seconds * 1_000L);
  }

  static void millis(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
