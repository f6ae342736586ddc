package ipmasq.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Runs a command to its end. Thread-safe. */
final class Commands {
  static final Duration DEADLINE = Duration.ofSeconds(20);

  private Commands() {}

  static Result run(String... command) {
    return run(new ProcessBuilder(command), "", DEADLINE);
  }

  /**
   * Runs it with {@code input} on its stdin. The output goes by way of files: a pipe stays open,
   * and the reader waits, while any child that the command left behind holds it.
   */
  static Result run(ProcessBuilder builder, String input, Duration deadline) {
    String command = String.join(" ", builder.command());
    try {
      Path stdin = Files.createTempFile("ipmq-", ".in");
      Path stdout = Files.createTempFile("ipmq-", ".out");
      Path stderr = Files.createTempFile("ipmq-", ".err");
      try {
        Files.writeString(stdin, input);
        Process process =
            builder
                .redirectInput(stdin.toFile())
                .redirectOutput(Redirect.to(stdout.toFile()))
                .redirectError(Redirect.to(stderr.toFile()))
                .start();
        int exit = await(process, command, deadline);
        return new Result(command, exit, Files.readString(stdout), Files.readString(stderr));
      } finally {
        Files.delete(stdin);
        Files.delete(stdout);
        Files.delete(stderr);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot run " + command, e);
    }
  }

  private static int await(Process process, String command, Duration deadline) {
    try {
      if (process.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS)) {
        return process.exitValue();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      kill(process);
      throw new IllegalStateException("interrupted while running " + command, e);
    }
    kill(process);
    throw new AssertionError("did not end within " + deadline + ": " + command);
  }

  private static void kill(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
