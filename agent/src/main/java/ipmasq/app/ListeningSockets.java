package ipmasq.app;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * TCP sockets that listen in this network namespace, and the processes that hold them, as {@code
 * /proc} shows them.
 */
public final class ListeningSockets {
  private static final String TCP_LISTEN = "0A";
  private static final Path PROC = Path.of("/proc");

  private ListeningSockets() {}

  /**
   * The port that this process listens on.
   *
   * @param process its directory below {@code /proc}
   * @param port the port that it should be; 0: any
   */
  public static Optional<Integer> portOf(Path process, int port) {
    return held(process, byInode(port));
  }

  /** Who listens on a port: {@code process 42 (java)}; empty if that cannot be seen from here. */
  public static Optional<String> holder(int port) {
    Map<String, Integer> sockets = byInode(port);
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path process : processes) {
        if (held(process, sockets).isPresent()) {
          String name = Files.readString(process.resolve("comm")).strip();
          return Optional.of("process " + process.getFileName() + " (" + name + ")");
        }
      }
    } catch (IOException unseen) {
      // Said below.
    }
    return Optional.empty();
  }

  private static Optional<Integer> held(Path process, Map<String, Integer> sockets) {
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
      for (Path descriptor : descriptors) {
        Integer port = sockets.get(Files.readSymbolicLink(descriptor).toString());
        if (port != null) {
          return Optional.of(port);
        }
      }
    } catch (IOException ended) {
      // Or it may not be read.
    }
    return Optional.empty();
  }

  /** Ports by what a descriptor of such a socket is called. */
  private static Map<String, Integer> byInode(int wanted) {
    Map<String, Integer> ports = new HashMap<>();
    for (String table : new String[] {"tcp", "tcp6"}) {
      try {
        for (String line : Files.readAllLines(PROC.resolve("thread-self/net").resolve(table))) {
          // 0: 0100007F:2382 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 INODE …
          String[] words = line.strip().split(" +");
          if (words.length > 9 && words[3].equals(TCP_LISTEN)) {
            int port = Integer.parseInt(words[1].substring(words[1].indexOf(':') + 1), 16);
            if (wanted == 0 || wanted == port) {
              ports.put("socket:[" + words[9] + "]", port);
            }
          }
        }
      } catch (IOException without) {
        // A kernel without IPv6 has no tcp6.
      }
    }
    return ports;
  }
}
