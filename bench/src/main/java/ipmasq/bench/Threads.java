package ipmasq.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** Who in a process used the CPU. */
final class Threads {
  private static final double WORTH_NAMING = 0.1;

  private Threads() {}

  /** Milliseconds so far, by name and number of the thread. */
  static Map<String, Double> cpuMillis(long pid) {
    Map<String, Double> threads = new HashMap<>();
    try (DirectoryStream<Path> tasks =
        Files.newDirectoryStream(Path.of("/proc/" + pid + "/task"))) {
      for (Path task : tasks) {
        String nanos = Files.readString(task.resolve("schedstat")).split(" ")[0];
        String name = Files.readString(task.resolve("comm")).strip();
        threads.put(name + "\t" + task.getFileName(), Long.parseLong(nanos) / 1e6);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return threads;
  }

  /** The largest first. */
  static String words(Map<String, Double> before, Map<String, Double> after) {
    return after.entrySet().stream()
        .map(e -> Map.entry(name(e.getKey()), e.getValue() - before.getOrDefault(e.getKey(), 0.0)))
        .filter(e -> e.getValue() > WORTH_NAMING)
        .sorted((a, b) -> Double.compare(b.getValue(), a.getValue()))
        .map(e -> e.getKey() + " " + Unit.MILLISECONDS.text(e.getValue()))
        .collect(Collectors.joining(", "));
  }

  /** Java calls the first thread by the program's name; the agent's loop runs there. */
  private static String name(String key) {
    String name = key.substring(0, key.indexOf('\t'));
    return name.equals("java") ? "the loop" : "\"" + name + "\"";
  }
}
