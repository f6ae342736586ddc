package ipmasq.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Where and when it was measured, for the head of the report. */
final class Machine {
  private Machine() {}

  static String kernel() {
    return System.getProperty("os.name")
        + " "
        + System.getProperty("os.version")
        + " "
        + System.getProperty("os.arch");
  }

  static String processor() {
    String model = "unknown";
    for (String line : read("/proc/cpuinfo").split("\n")) {
      if (line.startsWith("model name")) {
        model = line.substring(line.indexOf(':') + 1).strip();
        break;
      }
    }
    return Runtime.getRuntime().availableProcessors() + " × " + model;
  }

  /** How many wanted a processor: what disturbs the figures. */
  static String load() {
    String[] words = read("/proc/loadavg").split(" ");
    return words.length > 1 ? words[0] + " (1 min), " + words[1] + " (5 min)" : "unknown";
  }

  /** Below zero: the bench, and all that it starts, goes before others' work. */
  static String niceness() {
    String stat = read("/proc/self/stat");
    String[] words = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ");
    return words.length > 16 ? words[16] : "unknown";
  }

  static String date() {
    return Instant.now().truncatedTo(ChronoUnit.MINUTES).toString();
  }

  /** The first line that a program prints. */
  static String version(String... command) {
    return output(command).lines().findFirst().orElse("not installed").strip();
  }

  /** All that a program prints; nothing where there is no such program. */
  static String output(String... command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getOutputStream().close();
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException missing) {
      return "";
    }
  }

  private static String read(String file) {
    try {
      return Files.readString(Path.of(file));
    } catch (IOException unreadable) {
      return "";
    }
  }
}
