package ipmasq.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A running agent in a namespace; the process id is the agent's own. Thread-safe; two threads
 * collect what it prints.
 */
public final class AgentProcess implements AutoCloseable {
  private static final String PROGRAM = "ipmasq.agent"; // the system property that says where it is
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  /**
   * How long to wait for the last output of a dead agent, whose pipes a leftover child may keep
   * open.
   */
  private static final Duration PATIENCE = Duration.ofMillis(300);

  private final Process process;
  private final List<String> stdout = new CopyOnWriteArrayList<>();
  private final List<String> stderr = new CopyOnWriteArrayList<>();

  private final List<Thread> collectors;

  private AgentProcess(Process process) {
    this.process = process;
    collectors =
        List.of(
            collect(process.getInputStream(), stdout), collect(process.getErrorStream(), stderr));
  }

  /** Starts the built agent. */
  public static AgentProcess start(Namespace where, String... arguments) {
    return start(where, Map.of(), arguments);
  }

  /** Starts the built agent with more in its environment than this JVM has. */
  public static AgentProcess start(
      Namespace where, Map<String, String> environment, String... arguments) {
    return start(builtAgent(), where, environment, arguments);
  }

  /**
   * Starts another program as the agent: a peer, a stand-in, or one that restrains the agent and
   * then becomes it, such as {@code prlimit} or {@code setpriv}.
   */
  public static AgentProcess start(
      Path program, Namespace where, Map<String, String> environment, String... arguments) {
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = where.processBuilder(command.toArray(String[]::new));
    builder.environment().putAll(environment);
    try {
      Process started = builder.start();
      started.getOutputStream().close();
      return new AgentProcess(started);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot start " + program, e);
    }
  }

  /** The launcher that {@code make build} makes. */
  public static Path builtAgent() {
    String path = System.getProperty(PROGRAM);
    if (path == null || !Files.isExecutable(Path.of(path))) {
      throw new IllegalStateException("no agent at " + path + ": run make build first");
    }
    return Path.of(path);
  }

  private static Thread collect(InputStream stream, List<String> lines) {
    return Thread.ofPlatform()
        .daemon()
        .name("agent output")
        .start(
            () -> {
              try (var reader =
                  new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                String line;
                while ((line = reader.readLine()) != null) {
                  lines.add(line);
                }
              } catch (IOException closed) {
                // The process has ended.
              }
            });
  }

  public long pid() {
    return process.pid();
  }

  public boolean running() {
    return process.isAlive();
  }

  /** What it has printed so far. */
  public List<String> stdout() {
    return List.copyOf(stdout);
  }

  /** What it has printed to stderr so far. */
  public List<String> stderr() {
    return List.copyOf(stderr);
  }

  /** Waits for a line on stdout or stderr, whenever it was or is printed. */
  public String awaitLine(Predicate<String> wanted) {
    return awaitLine(wanted, DEADLINE);
  }

  /** Waits for a line on stdout or stderr, whenever it was or is printed. */
  public String awaitLine(Predicate<String> wanted, Duration deadline) {
    return Eventually.within(
            deadline,
            "a line of the agent",
            this::lines,
            lines -> lines.stream().anyMatch(wanted) || saidEverything())
        .stream()
        .filter(wanted)
        .findFirst()
        .orElseThrow(() -> new AssertionError("the agent ended without that line: " + lines()));
  }

  private boolean saidEverything() {
    return collectors.stream().noneMatch(Thread::isAlive);
  }

  private List<String> lines() {
    return Stream.of(stderr, stdout).flatMap(List::stream).toList();
  }

  /** SIGTERM, as the kubelet sends it; its output is still collected. */
  public void terminate() {
    process.toHandle().destroy();
  }

  /** SIGKILL. */
  public void kill() {
    process.toHandle().destroyForcibly();
  }

  /** Waits for its end and returns the exit code: 128 plus the signal's number if it was killed. */
  public int awaitExit() {
    return awaitExit(DEADLINE);
  }

  /** Waits for its end and tells the exit code. */
  public int awaitExit(Duration deadline) {
    try {
      if (process.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS)) {
        for (Thread collector : collectors) {
          collector.join(PATIENCE);
        }
        return process.exitValue();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for the agent's end", e);
    }
    throw new AssertionError("the agent still runs after " + deadline + ": " + lines());
  }

  /** Kills it, and what it has started, if that has not ended by itself. */
  @Override
  public void close() {
    List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
    all.addFirst(process.toHandle());
    all.forEach(ProcessHandle::destroyForcibly);
    awaitExit();
  }

  @Override
  public String toString() {
    String state = running() ? " running: " : " ended with " + process.exitValue() + ": ";
    return "agent " + pid() + state + lines();
  }
}
