package ipmasq.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What a process takes, in megabytes. */
final class Memory {
  private Memory() {}

  /** All pages that it has, those of files included. */
  static double rss(long pid) {
    return megabytes(pid, "smaps_rollup", "Rss:");
  }

  /** Those that no file backs: the kernel cannot take them back. */
  static double anonymous(long pid) {
    return megabytes(pid, "smaps_rollup", "Anonymous:");
  }

  /** The most that {@link #rss} has been since {@link #forgetPeak}. */
  static double peak(long pid) {
    return megabytes(pid, "status", "VmHWM:");
  }

  static void forgetPeak(long pid) {
    try {
      Files.writeString(Path.of("/proc/" + pid + "/clear_refs"), "5");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static double megabytes(long pid, String file, String key) {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/" + pid, file))) {
        String[] words = line.split("\\s+");
        if (words[0].equals(key)) {
          return Long.parseLong(words[1]) / 1024.0;
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    throw new IllegalStateException("no " + key + " in " + file);
  }
}
