package ipmasq.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What a process takes, in megabytes.
 *
 * @param rss all pages that it has
 * @param pss the same, each shared page divided by the number of those who share it
 * @param anonymous of its own making: neither file nor library
 */
record Memory(double rss, double pss, double anonymous) {
  static Memory of(long pid) {
    double rss = 0;
    double pss = 0;
    double anonymous = 0;
    try {
      for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/smaps_rollup"))) {
        String[] words = line.split("\\s+");
        switch (words[0]) {
          case "Rss:" -> rss = Long.parseLong(words[1]) / 1024.0;
          case "Pss:" -> pss = Long.parseLong(words[1]) / 1024.0;
          case "Anonymous:" -> anonymous = Long.parseLong(words[1]) / 1024.0;
          default -> {}
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new Memory(rss, pss, anonymous);
  }
}
