package ipmasq.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A control group, which counts the CPU time of processes, their threads and their children to the
 * nanosecond, those that have ended included. Thread-safe.
 */
final class Cgroup implements AutoCloseable {
  private static final Path OLD = Path.of("/sys/fs/cgroup/cpuacct");
  private static final Path NEW = Path.of("/sys/fs/cgroup");
  private static final AtomicInteger COUNT = new AtomicInteger();

  private final Path directory;

  Cgroup() {
    Path root = Files.isDirectory(OLD) ? OLD : NEW;
    String name = "ipmq-bench-" + ProcessHandle.current().pid() + "-" + COUNT.incrementAndGet();
    directory = root.resolve(name);
    try {
      Files.createDirectory(directory);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make a control group to count CPU time in", e);
    }
  }

  /** From now on this process, and the children it will have, are counted here. */
  void add(long pid) {
    try {
      Files.writeString(members(), Long.toString(pid));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A command that is counted here from its first instruction on. */
  List<String> wrap(List<String> command) {
    List<String> wrapped =
        new ArrayList<>(List.of("sh", "-c", "echo $$ > \"$0\" && exec \"$@\"", members() + ""));
    wrapped.addAll(command);
    return wrapped;
  }

  private Path members() {
    return directory.resolve("cgroup.procs");
  }

  double cpuMillis() {
    try {
      Path old = directory.resolve("cpuacct.usage");
      if (Files.exists(old)) {
        return Long.parseLong(Files.readString(old).strip()) / 1e6;
      }
      for (String line : Files.readAllLines(directory.resolve("cpu.stat"))) {
        if (line.startsWith("usage_usec ")) {
          return Long.parseLong(line.substring("usage_usec ".length())) / 1e3;
        }
      }
      throw new IllegalStateException("no CPU time in " + directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Once its last process has ended; that may take the kernel a moment to see. */
  @Override
  public void close() {
    for (int attempt = 0; attempt < 100; attempt++) {
      try {
        Files.delete(directory);
        return;
      } catch (IOException busy) {
        pause();
      }
    }
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(20);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
