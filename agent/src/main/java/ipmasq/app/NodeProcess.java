package ipmasq.app;

import ipmasq.net.ForeignText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A process of this node.
 *
 * @param directory its directory below {@code /proc}
 */
public record NodeProcess(Path directory) {
  public static final NodeProcess SELF = new NodeProcess(Path.of("/proc/thread-self"));
  private static final String TCP_LISTEN = "0A";

  /** What the kernel appends when the file was replaced since the start. */
  private static final String REPLACED = " (deleted)";

  /** All that can be seen from here, besides this one. */
  public static Stream<NodeProcess> others() {
    long self = ProcessHandle.current().pid();
    return ProcessHandle.allProcesses()
        .filter(process -> process.pid() != self)
        .map(process -> new NodeProcess(Path.of("/proc/" + process.pid())));
  }

  /** Who listens on a port: {@code process 42 (java)}; empty if that cannot be seen from here. */
  public static Optional<String> listener(int port) {
    Map<Path, Integer> sockets = listening();
    return others()
        .filter(process -> process.ports(sockets).contains(port))
        .findFirst()
        .map(it -> "process " + it.pid() + " (" + new ForeignText(it.executable()) + ")");
  }

  /** The ports on which this namespace listens, by what a descriptor of such a socket links to. */
  private static Map<Path, Integer> listening() {
    Map<Path, Integer> ports = new HashMap<>();
    // 0: 0100007F:2382 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 INODE …
    for (String line : (SELF.text("net/tcp") + SELF.text("net/tcp6")).split("\n")) {
      String[] words = line.strip().split(" +");
      if (words.length > 9 && words[3].equals(TCP_LISTEN)) {
        int port = Integer.parseInt(words[1].substring(words[1].indexOf(':') + 1), 16);
        ports.put(Path.of("socket:[" + words[9] + "]"), port);
      }
    }
    return ports;
  }

  /** The TCP ports that it listens on, by sockets among its descriptors. */
  public List<Integer> ports() {
    return ports(listening());
  }

  private List<Integer> ports(Map<Path, Integer> sockets) {
    List<Integer> ports = new ArrayList<>();
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(directory.resolve("fd"))) {
      for (Path descriptor : descriptors) {
        // One that was closed meanwhile says nothing of the others.
        link("fd/" + descriptor.getFileName()).map(sockets::get).ifPresent(ports::add);
      }
    } catch (IOException ended) {
      return List.of(); // or it may not be read
    }
    return ports;
  }

  public long pid() {
    return Long.parseLong(directory.getFileName().toString());
  }

  /** The file name of its program; empty if it has none, or it may not be read. */
  public String executable() {
    return link("exe")
        .map(Path::getFileName) // none of the root
        .map(name -> name.toString().replace(REPLACED, ""))
        .orElse("");
  }

  public List<String> arguments() {
    return List.of(text("cmdline").split("\0"));
  }

  /**
   * Whether it is root's, with its real user id too, in this network namespace. What others say of
   * themselves proves nothing, and those elsewhere have other rules.
   */
  public boolean isOfRootHere() {
    Optional<Path> here = SELF.link("ns/net");
    return field("Uid").equals("0\t0\t0\t0") && here.isPresent() && here.equals(link("ns/net"));
  }

  /** A line of its {@code status}; empty if it has none. */
  public String field(String name) {
    return text("status")
        .lines()
        .filter(line -> line.startsWith(name + ":"))
        .map(line -> line.substring(name.length() + 1).strip())
        .findFirst()
        .orElse("");
  }

  /** The path to a file as this process sees it: it may run in a container. */
  public String seenFromHere(String path) {
    String absolute = link("cwd").orElse(Path.of("/")).resolve(path).toString();
    Optional<Path> mounts = link("ns/mnt");
    return mounts.equals(SELF.link("ns/mnt")) ? absolute : directory.resolve("root") + absolute;
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
