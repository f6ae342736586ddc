package ipmasq.testkit;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Namespaces that outlive their test: those of this JVM go when it ends, those of a JVM that died
 * without a chance to tidy up go when the next one opens its first namespace. Thread-safe.
 *
 * <p>The name contains the owner: {@code ipmq-j4711-3-node} belongs to process 4711.
 */
final class Leftovers {
  private static final Path NAMED = Path.of("/run/netns");
  private static final String PREFIX = "ipmq-j";
  private static final Set<String> OURS = ConcurrentHashMap.newKeySet();
  private static int count;

  static {
    sweep();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(List.copyOf(OURS))));
  }

  private Leftovers() {}

  /** A name that nobody else uses; from now on it is swept away if nobody takes care. */
  static synchronized String name(String role) {
    String name = PREFIX + ProcessHandle.current().pid() + "-" + ++count + "-" + role;
    OURS.add(name);
    return name;
  }

  static void sweep() {
    delete(ofTheDead());
  }

  /** Removes namespaces and ends what still runs inside, which would keep them alive. */
  static void delete(Collection<String> names) {
    List<String> present = names.stream().filter(n -> Files.exists(NAMED.resolve(n))).toList();
    if (!present.isEmpty()) {
      inhabitants(present).forEach(ProcessHandle::destroyForcibly);
      Commands.run(
          new ProcessBuilder("ip", "-force", "-batch", "-"),
          present.stream().collect(Collectors.joining("\nnetns del ", "netns del ", "\n")),
          Commands.DEADLINE);
    }
    OURS.removeAll(names);
  }

  private static List<ProcessHandle> inhabitants(List<String> names) {
    Set<String> wanted = new HashSet<>();
    for (String name : names) {
      try {
        Object inode = Files.getAttribute(Path.of(NetworkNamespace.path(name)), "unix:ino");
        wanted.add("net:[" + inode + "]");
      } catch (IOException gone) {
        // It was already deleted.
      }
    }
    ProcessHandle self = ProcessHandle.current();
    return ProcessHandle.allProcesses()
        .filter(process -> !process.equals(self) && wanted.contains(namespaceOf(process)))
        .toList();
  }

  private static String namespaceOf(ProcessHandle process) {
    try {
      return Files.readSymbolicLink(Path.of("/proc/" + process.pid() + "/ns/net")).toString();
    } catch (IOException gone) {
      return "";
    }
  }

  private static List<String> ofTheDead() {
    List<String> names = new ArrayList<>();
    if (Files.isDirectory(NAMED)) {
      try (DirectoryStream<Path> paths = Files.newDirectoryStream(NAMED, PREFIX + "*")) {
        paths.forEach(path -> names.add(path.getFileName().toString()));
      } catch (IOException e) {
        throw new IllegalStateException("cannot look for left-over namespaces", e);
      }
    }
    names.removeIf(name -> !ownerIsDead(name));
    return names;
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
