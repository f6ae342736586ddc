package ipmasq.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

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

  /** What the pages of an agent of ours hold, the largest part first. */
  static String parts(long pid) {
    Map<String, Double> parts = new TreeMap<>();
    String part = "";
    try {
      for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/smaps"))) {
        String[] words = line.split("\\s+");
        if (words[0].equals("Rss:")) {
          parts.merge(part, Long.parseLong(words[1]) / 1024.0, Double::sum);
        } else if (!words[0].endsWith(":")) {
          part = part(words);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return parts.entrySet().stream()
        .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
        .map(entry -> entry.getKey() + " " + Unit.MEGABYTES.text(entry.getValue()))
        .collect(Collectors.joining(", "));
  }

  /**
   * By the first line of a mapping: addresses, rights, offset, device, inode and perhaps a name.
   */
  private static String part(String[] words) {
    String name = words.length > 5 ? words[5] : "";
    if (name.endsWith("libjvm.so")) {
      return "the virtual machine (libjvm.so)";
    }
    if (name.endsWith("agent.aot")) {
      return "the trained cache";
    }
    if (name.equals("[heap]")) {
      return "native memory";
    }
    if (name.isEmpty()) {
      long start = Long.parseUnsignedLong(words[0].substring(0, words[0].indexOf('-')), 16);
      return start < 1L << 32 ? "the Java heap" : "compiled code, class data, stacks";
    }
    return "other files and libraries";
  }
}
