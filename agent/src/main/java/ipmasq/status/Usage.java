package ipmasq.status;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The resource usage of the process, under the names of Prometheus' client libraries.
 *
 * @param memory resident, in bytes; less than 0 if unknown
 * @param cpuSeconds user and system; less than 0 if unknown
 */
record Usage(Optional<Instant> started, long memory, double cpuSeconds) {
  private static final double TICKS_A_SECOND = 100; // the same on every Linux that Java runs on

  /** Of this process, as {@code /proc} has it. */
  static Usage now(Optional<Instant> started) {
    return new Usage(started, residentBytes(), processorTime());
  }

  private static long residentBytes() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("VmRSS:")) {
          String kilobytes = line.substring("VmRSS:".length(), line.length() - 2).strip();
          return Long.parseLong(kilobytes) * 1024;
        }
      }
    } catch (IOException | NumberFormatException unknown) {
      // reported below
    }
    return -1;
  }

  private static double processorTime() {
    try {
      String stat = Files.readString(Path.of("/proc/self/stat"));
      // The second field is a name in parentheses, which may contain blanks and parentheses.
      List<String> fields = List.of(stat.substring(stat.lastIndexOf(')') + 2).split(" "));
      return (Long.parseLong(fields.get(11)) + Long.parseLong(fields.get(12))) / TICKS_A_SECOND;
    } catch (IOException | RuntimeException unknown) {
      return -1;
    }
  }

  void write(Exposition out) {
    started.ifPresent(
        instant ->
            out.gauge("process_start_time_seconds", "When the agent started.")
                .sample(instant.toEpochMilli() / 1000.0));
    if (memory >= 0) {
      out.gauge("process_resident_memory_bytes", "Resident memory of the agent's process.")
          .sample(memory);
    }
    if (cpuSeconds >= 0) {
      out.counter("process_cpu_seconds_total", "User and system CPU time of the agent's process.")
          .sample(cpuSeconds);
    }
  }
}
