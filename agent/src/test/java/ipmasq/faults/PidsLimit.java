package ipmasq.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** A control group that holds a process and lets it start no thread more; gone when closed. */
record PidsLimit(Path group) implements AutoCloseable {
  private static final Path OLD = Path.of("/sys/fs/cgroup/pids");
  private static final Path UNIFIED = Path.of("/sys/fs/cgroup");

  static PidsLimit of(long pid) throws IOException {
    Path root = Files.exists(OLD) ? OLD : UNIFIED;
    Path group = Files.createDirectory(root.resolve("ipmq-pids-" + pid));
    PidsLimit limit = new PidsLimit(group);
    if (!Files.exists(group.resolve("pids.max"))) {
      limit.close();
      Assumptions.abort("control groups have no pids controller here");
    }
    Files.writeString(group.resolve("cgroup.procs"), String.valueOf(pid));
    try (Stream<Path> threads = Files.list(Path.of("/proc/" + pid + "/task"))) {
      Files.writeString(group.resolve("pids.max"), String.valueOf(threads.count()));
    }
    return limit;
  }

  /** After the process has ended. */
  @Override
  public void close() throws IOException {
    ipmasq.testkit.Eventually.eventually(
        "an empty control group", () -> group.toFile().delete(), deleted -> deleted);
  }
}
