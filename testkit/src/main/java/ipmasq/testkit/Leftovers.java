package ipmasq.testkit;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Namespaces that outlive their test: those of this JVM go when it ends, those of a JVM that died
 * without a chance to tidy up go when the next one opens its first namespace. Thread-safe.
 *
 * <p>The owner stands in the name: {@code ipmq-j4711-3-node} belongs to process 4711.
 */
final class Leftovers {
  private static final Path NAMED = Path.of("/run/netns");
  private static final String PREFIX = "ipmq-j";
  private static final Set<String> OURS = ConcurrentHashMap.newKeySet();
  private static int count;

  static {
    sweep();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> OURS.forEach(Leftovers::delete)));
  }

  private Leftovers() {}

  /** A name that nobody else uses; from now on it is swept away if nobody takes care. */
  static synchronized String name(String role) {
    String name = PREFIX + ProcessHandle.current().pid() + "-" + ++count + "-" + role;
    OURS.add(name);
    return name;
  }

  static void delete(String name) {
    OURS.remove(name);
    killInhabitants(name);
    Commands.run("ip", "netns", "del", name);
  }

  /** Ends what still runs inside, which would keep the namespace and its interfaces alive. */
  private static void killInhabitants(String name) {
    long self = ProcessHandle.current().pid();
    Commands.run("ip", "netns", "pids", name)
        .stdout()
        .lines()
        .map(Long::valueOf)
        .filter(pid -> pid != self)
        .forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
  }

  private static void sweep() {
    if (!Files.isDirectory(NAMED)) {
      return;
    }
    try (DirectoryStream<Path> paths = Files.newDirectoryStream(NAMED, PREFIX + "*")) {
      for (Path path : paths) {
        String name = path.getFileName().toString();
        if (ownerIsDead(name)) {
          delete(name);
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException("cannot look for left-over namespaces", e);
    }
  }

  private static boolean ownerIsDead(String name) {
    int dash = name.indexOf('-', PREFIX.length());
    if (dash < 0) {
      return false;
    }
    try {
      return ProcessHandle.of(Long.parseLong(name.substring(PREFIX.length(), dash))).isEmpty();
    } catch (NumberFormatException notOurs) {
      return false;
    }
  }
}
