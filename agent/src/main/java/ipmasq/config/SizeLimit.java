package ipmasq.config;

import java.util.Locale;

/**
 * How large a config may be, so that it fits in the heap beside the config that is in force. With
 * the heap that {@code java.args} gives, 100,000 ranges fit.
 */
final class SizeLimit {
  private static final long HEAP = Runtime.getRuntime().maxMemory();

  /** All files together: the bytes, the text, and its values are in memory at once. */
  static final int BYTES = (int) Math.min(HEAP / 18, 256 << 20);

  /** Ranges, and whatever else the files list. */
  static final int VALUES = (int) Math.min(HEAP / 930, 2_000_000);

  private SizeLimit() {}

  static String bytes() {
    return "at most " + megabytes(BYTES) + " fit in a heap of " + megabytes(HEAP);
  }

  static String values() {
    return String.format(
        Locale.ROOT, "at most %,d values fit in a heap of %s", VALUES, megabytes(HEAP));
  }

  static String megabytes(long bytes) {
    return String.format(Locale.ROOT, "%.1f MB", bytes / 1e6);
  }

  /** The heap is in java.args; the operator can change it. */
  static String advice() {
    return "fewer ranges, or more memory: _JAVA_OPTIONS=-Xmx256m in the agent's environment, and a"
        + " memory limit to match";
  }
}
