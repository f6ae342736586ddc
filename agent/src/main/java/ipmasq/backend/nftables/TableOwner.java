package ipmasq.backend.nftables;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.StringTokenizer;

/** Who owns a table, for people. */
final class TableOwner {
  private static final Path PROC = Path.of("/proc");
  private static final String NETFILTER = "12";

  private TableOwner() {}

  /**
   * The kernel names the owner's socket by its port. Often that is a process id, but in a pid
   * namespace of its own, or for a second socket, it is not; so the process is looked for that has
   * the socket.
   */
  static String of(int port) {
    String number = Integer.toUnsignedString(port);
    return socket(number)
        .flatMap(TableOwner::holder)
        .orElse("a process that cannot be seen from here (netlink port " + number + ")");
  }

  /** As a link to it reads, by the kernel's list: address, protocol, port, …, inode. */
  private static Optional<String> socket(String port) {
    try {
      for (String line : Files.readAllLines(PROC.resolve("thread-self/net/netlink"))) {
        StringTokenizer words = new StringTokenizer(line);
        if (words.countTokens() == 10) {
          words.nextToken();
          boolean found = words.nextToken().equals(NETFILTER) && words.nextToken().equals(port);
          String inode = "";
          while (words.hasMoreTokens()) {
            inode = words.nextToken();
          }
          if (found) {
            return Optional.of("socket:[" + inode + "]");
          }
        }
      }
    } catch (IOException hidden) {
      // Then nobody can be named.
    }
    return Optional.empty();
  }

  private static Optional<String> holder(String socket) {
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path process : processes) {
        if (holds(process, socket)) {
          String name = Files.readString(process.resolve("comm")).strip();
          return Optional.of("process " + process.getFileName() + " (" + name + ")");
        }
      }
    } catch (IOException hidden) {
      // It has ended, or is not ours to see.
    }
    return Optional.empty();
  }

  private static boolean holds(Path process, String socket) {
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
      for (Path descriptor : descriptors) {
        if (Files.readSymbolicLink(descriptor).toString().equals(socket)) {
          return true;
        }
      }
    } catch (IOException ended) {
      // Not this one, then.
    }
    return false;
  }
}
