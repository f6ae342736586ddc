package ipmasq.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * A process of this node.
 *
 * @param directory its directory below {@code /proc}
 */
record NodeProcess(Path directory) {
  private static final Path PROC = Path.of("/proc");
  private static final String TCP_LISTEN = "0A";

  private static final Set<String> GO_AGENTS = Set.of("ip-masq-agent", "ip-masq-agent-v2");

  /** What the kernel appends when the file was replaced since the start. */
  private static final String REPLACED = " (deleted)";

  /**
   * The first process, besides this one, that is recognized. Only root's in this network namespace
   * count: what others say of themselves proves nothing, and those elsewhere have other rules.
   */
  static <T> Optional<T> first(Function<NodeProcess, Optional<T>> recognize) {
    Path self = PROC.resolve(String.valueOf(ProcessHandle.current().pid()));
    try (DirectoryStream<Path> directories = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path directory : directories) {
        NodeProcess process = new NodeProcess(directory);
        Optional<T> found = directory.equals(self) ? Optional.empty() : recognize.apply(process);
        if (found.isPresent() && process.isOfRoot() && process.isHere()) {
          return found;
        }
      }
    } catch (IOException noProc) {
      return Optional.empty();
    }
    return Optional.empty();
  }

  /** A Go agent, known by its executable: our launcher is a script by that name, run by a shell. */
  static Optional<NodeProcess> goAgent() {
    return first(
        process ->
            GO_AGENTS.contains(process.executable()) ? Optional.of(process) : Optional.empty());
  }

  /** The beginning of a sentence about a Go agent. */
  String asForeignAgent() {
    return "another ip-masq-agent runs here (process " + pid() + "), not this one";
  }

  long pid() {
    return Long.parseLong(directory.getFileName().toString());
  }

  /** The file name of its program; empty if it has none, or it may not be read. */
  String executable() {
    return link("exe")
        .map(Path::getFileName)
        .map(name -> name.toString().replace(REPLACED, ""))
        .orElse("");
  }

  List<String> arguments() {
    return List.of(text("cmdline").split("\0"));
  }

  /** Whether a signal stopped it, so that it does nothing until another continues it. */
  boolean isStopped() {
    return text("status").lines().anyMatch(line -> line.matches("State:\\s+[Tt] .*"));
  }

  /** The path to a file as this process sees it: it may run in a container. */
  String seenFromHere(String path) {
    Optional<Path> mounts = link("ns/mnt");
    if (mounts.isEmpty()) {
      return path;
    }
    String absolute = link("cwd").orElse(Path.of("/")).resolve(path).toString();
    boolean same = mounts.equals(new NodeProcess(PROC.resolve("self")).link("ns/mnt"));
    return same ? absolute : directory.resolve("root") + absolute;
  }

  /**
   * The TCP port that it listens on, by a socket among its descriptors.
   *
   * @param wanted the port that it should be; 0: any
   */
  Optional<Integer> listensOn(int wanted) {
    Set<Path> descriptors = new HashSet<>();
    try (DirectoryStream<Path> links = Files.newDirectoryStream(directory.resolve("fd"))) {
      for (Path link : links) {
        descriptors.add(Files.readSymbolicLink(link));
      }
    } catch (IOException ended) {
      return Optional.empty(); // or it may not be read
    }
    NodeProcess here = new NodeProcess(PROC.resolve("thread-self"));
    // 0: 0100007F:2382 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 INODE …
    return (here.text("net/tcp") + here.text("net/tcp6"))
        .lines()
        .map(line -> line.strip().split(" +"))
        .filter(words -> words.length > 9 && words[3].equals(TCP_LISTEN))
        .filter(words -> descriptors.contains(Path.of("socket:[" + words[9] + "]")))
        .map(words -> Integer.parseInt(words[1].substring(words[1].indexOf(':') + 1), 16))
        .filter(port -> wanted == 0 || wanted == port)
        .findFirst();
  }

  /** Whether each of its user ids is root's: the real one too, so that no user started it. */
  private boolean isOfRoot() {
    return text("status").lines().anyMatch(line -> line.matches("Uid:\\s+0\\s+0\\s+0\\s+0"));
  }

  private boolean isHere() {
    Optional<Path> here = new NodeProcess(PROC.resolve("thread-self")).link("ns/net");
    return here.isPresent() && here.equals(link("ns/net"));
  }

  private Optional<Path> link(String name) {
    try {
      return Optional.of(Files.readSymbolicLink(directory.resolve(name)));
    } catch (IOException unknown) {
      return Optional.empty(); // it ended, or it may not be read
    }
  }

  private String text(String name) {
    try {
      byte[] bytes = Files.readAllBytes(directory.resolve(name));
      return new String(bytes, StandardCharsets.UTF_8);
    } catch (IOException ended) {
      return "";
    }
  }
}
