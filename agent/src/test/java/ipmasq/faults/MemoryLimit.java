package ipmasq.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;

/** A control group with so much memory, as a container has it; gone when closed. */
record MemoryLimit(Path group, boolean unified) implements AutoCloseable {
  private static final Path OLD = Path.of("/sys/fs/cgroup/memory");
  private static final Path UNIFIED = Path.of("/sys/fs/cgroup");
  private static final AtomicInteger NUMBER = new AtomicInteger();

  static MemoryLimit of(long bytes) throws IOException {
    boolean old = Files.exists(OLD.resolve("memory.limit_in_bytes"));
    boolean unified = Files.exists(UNIFIED.resolve("cgroup.subtree_control"));
    Assumptions.assumeTrue(old || unified, "no control groups for memory here");
    String name = "ipmq-" + ProcessHandle.current().pid() + "-" + NUMBER.incrementAndGet();
    Path group = Files.createDirectory((old ? OLD : UNIFIED).resolve(name));
    MemoryLimit limit = new MemoryLimit(group, !old);
    Path most = group.resolve(old ? "memory.limit_in_bytes" : "memory.max");
    if (!Files.exists(most)) {
      limit.close();
      Assumptions.abort("control groups have no memory controller here");
    }
    Files.writeString(most, String.valueOf(bytes));
    return limit;
  }

  /** What the manifest gives the agent. */
  static MemoryLimit ofManifest() throws IOException {
    Path manifest = Path.of(System.getProperty("ipmasq.project"), "ip-masq-agent.yaml");
    String limits = Files.readString(manifest).split("limits:")[1].split("memory: ")[1];
    return of(Long.parseLong(limits.substring(0, limits.indexOf("Mi"))) << 20);
  }

  /** Puts a program in here that then becomes another. */
  List<String> entering() {
    return List.of("/bin/sh", "-c", "echo $$ > " + group + "/cgroup.procs && exec \"$@\"", "sh");
  }

  /** How many processes the kernel has ended for want of memory. */
  long kills() throws IOException {
    Path events = group.resolve(unified ? "memory.events" : "memory.oom_control");
    for (String line : Files.readAllLines(events)) {
      if (line.startsWith("oom_kill ")) {
        return Long.parseLong(line.substring(9));
      }
    }
    return 0;
  }

  @Override
  public void close() throws IOException {
    // What ran in here may still be on its way out.
    ipmasq.testkit.Eventually.eventually(
        "an empty control group", () -> group.toFile().delete(), deleted -> deleted);
  }
}
