package ipmasq.iptables;

import ipmasq.thread.Daemon;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Real processes, each with a deadline that grows with its work. Used by one thread.
 *
 * <p>That thread waits for the end in short steps and drains the pipes in between, so that no pipe
 * fills up and no reader thread is needed. Input larger than a page, which a pipe may not accept at
 * once, is fed by a separate thread: a hanging program must not hang its caller.
 */
public final class ChildProcesses implements Commands {
  private static final int SURE_TO_FIT = 4096;
  private static final int ERRORS_KEPT = 2000;

  /** The descriptors that Java needs to start a process: five pipes, and one to spare. */
  private static final int DESCRIPTORS = 12;

  /** A program that is fed more than this gets more time: so much is what it takes a second. */
  private static final long BYTES_PER_SECOND = 100_000;

  private static final long SHORTEST_STEP_MS = 1;
  private static final long LONGEST_STEP_MS = 20;

  private final Programs programs;
  private final Duration deadline;
  private final Consumer<Optional<Duration>> waiting;

  /**
   * @param waiting is told how long a process may take when it starts, and nothing when it ended
   */
  public ChildProcesses(
      Programs programs, Duration deadline, Consumer<Optional<Duration>> waiting) {
    this.programs = programs;
    this.deadline = deadline;
    this.waiting = waiting;
  }

  public ChildProcesses(Programs programs, Duration deadline) {
    this(programs, deadline, _ -> {});
  }

  @Override
  public CommandResult run(List<String> command, String input, Consumer<String> lines) {
    Optional<Path> program = programs.find(command.getFirst());
    if (program.isEmpty()) {
      return new CommandResult.Missing(programs.path());
    }
    List<String> line = new ArrayList<>(command);
    line.set(0, program.get().toString());
    ProcessBuilder builder = new ProcessBuilder(line);
    // Errors are recognised by their English text.
    builder.environment().put("LC_ALL", "C");
    try {
      requireDescriptors();
      return attend(builder.start(), input, lines);
    } catch (IOException e) {
      // Java adds nine lines of guesses to what the kernel said.
      return new CommandResult.Broken(
          String.valueOf(e.getMessage()).lines().findFirst().orElse("").strip());
    }
  }

  /**
   * If no descriptors are left for the pipes, Java 25 closes descriptor 0, whatever that is by
   * then, and the next file or socket takes the number. A second attempt would close one of our
   * own.
   */
  private static void requireDescriptors() throws IOException {
    List<InputStream> held = new ArrayList<>();
    try {
      for (int i = 0; i < DESCRIPTORS; i++) {
        held.add(new FileInputStream("/dev/null"));
      }
    } finally {
      for (InputStream one : held) {
        one.close();
      }
    }
  }

  private CommandResult attend(Process process, String input, Consumer<String> sink)
      throws IOException {
    long start = System.nanoTime();
    // 65,536 rules take iptables many seconds.
    Duration given = deadline.plus(Duration.ofSeconds(input.length() / BYTES_PER_SECOND));
    byte[] buffer = new byte[8192];
    Listing lines = new Listing(sink);
    ByteArrayOutputStream errors = new ByteArrayOutputStream(0);
    waiting.accept(Optional.of(given));
    try {
      sacrifice(process);
      feed(process.getOutputStream(), input.getBytes(StandardCharsets.UTF_8));
      long step = SHORTEST_STEP_MS;
      while (!process.waitFor(step, TimeUnit.MILLISECONDS)) {
        if (System.nanoTime() - start > given.toNanos()) {
          return new CommandResult.Overran(given, text(errors));
        }
        boolean moved = drain(process, buffer, lines, errors);
        step = moved ? SHORTEST_STEP_MS : Math.min(2 * step, LONGEST_STEP_MS);
      }
      drain(process, buffer, lines, errors);
      lines.end();
      return new CommandResult.Ended(process.exitValue(), text(errors));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new CommandResult.Broken("interrupted");
    } finally {
      waiting.accept(Optional.empty());
      if (process.isAlive()) {
        kill(process);
      }
    }
  }

  /**
   * Makes the OOM killer choose this process instead of the agent, so that the agent can report it.
   */
  private static void sacrifice(Process process) {
    try {
      Files.writeString(Path.of("/proc/" + process.pid() + "/oom_score_adj"), "1000");
    } catch (IOException gone) {
      // It has ended, or there is no such thing here.
    }
  }

  private static void feed(OutputStream pipe, byte[] input) throws IOException {
    if (input.length <= SURE_TO_FIT) {
      pour(pipe, input);
    } else if (!Daemon.start("iptables-input", () -> pour(pipe, input))) {
      throw new IOException("no thread for its input");
    }
  }

  private static void pour(OutputStream pipe, byte[] input) {
    try (pipe) {
      pipe.write(input);
    } catch (IOException ignored) {
      // The program ended without reading all input: its exit code and stderr say why.
    }
  }

  private static boolean drain(
      Process process, byte[] buffer, Listing lines, ByteArrayOutputStream errors)
      throws IOException {
    boolean moved = false;
    InputStream out = process.getInputStream();
    while (out.available() > 0) {
      lines.accept(buffer, out.read(buffer, 0, Math.min(buffer.length, out.available())));
      moved = true;
    }
    InputStream err = process.getErrorStream();
    while (err.available() > 0) {
      int count = err.read(buffer, 0, Math.min(buffer.length, err.available()));
      errors.write(buffer, 0, Math.min(count, ERRORS_KEPT - errors.size()));
      moved = true;
    }
    return moved;
  }

  /** Kills its children too: a wrapper script's child would live on. */
  private static void kill(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    try {
      process.waitFor(1, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static String text(ByteArrayOutputStream errors) {
    return errors.toString(StandardCharsets.UTF_8).strip();
  }
}
