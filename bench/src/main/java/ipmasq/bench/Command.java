package ipmasq.bench;

import ipmasq.testkit.Namespace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A program run to its end in a namespace. */
final class Command {
  private static final int DEADLINE_SECONDS = 120;

  private Command() {}

  /**
   * How it went.
   *
   * @param millis by the clock on the wall
   * @param cpuMillis of the program and what it started
   */
  record Cost(int exit, String output, double millis, double cpuMillis) {
    Cost ok() {
      if (exit != 0) {
        throw new IllegalStateException("exit " + exit + ": " + output);
      }
      return this;
    }
  }

  static Cost run(Namespace where, String input, String... command) {
    return run(where, input, Map.of(), command);
  }

  static Cost run(
      Namespace where, String input, Map<String, String> environment, String... command) {
    try (Cgroup cgroup = new Cgroup()) {
      Path stdin = Files.createTempFile("ipmq-", ".in");
      Path output = Files.createTempFile("ipmq-", ".out");
      try {
        Files.writeString(stdin, input);
        ProcessBuilder builder =
            where.processBuilder(cgroup.wrap(List.of(command)).toArray(String[]::new));
        builder.environment().putAll(environment);
        long start = System.nanoTime();
        Process process =
            builder
                .redirectInput(stdin.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
          process.destroyForcibly();
          throw new IllegalStateException("did not end: " + String.join(" ", command));
        }
        double millis = (System.nanoTime() - start) / 1e6;
        return new Cost(process.exitValue(), Files.readString(output), millis, cgroup.cpuMillis());
      } finally {
        Files.delete(stdin);
        Files.delete(output);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
