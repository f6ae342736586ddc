package ipmasq.bench;

/** Tells on stderr what is being measured: the whole takes minutes. */
final class Progress {
  private static final long START = System.nanoTime();

  private Progress() {}

  static void say(String what) {
    System.err.println("bench " + (System.nanoTime() - START) / 1_000_000_000 + " s: " + what);
  }
}
