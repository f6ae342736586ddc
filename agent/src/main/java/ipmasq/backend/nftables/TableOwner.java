package ipmasq.backend.nftables;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.StringTokenizer;

/** Describes a table's owner for people. */
final class TableOwner {
  private static final Path PROC = Path.of("/proc");
  private static final String NETFILTER = "12";

  private TableOwner() {}

  /**
   * The kernel names the owner's socket by its port. That is often a process id, but not in another
   * pid namespace or for a second socket, so this looks for the process that holds the socket.
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
      // The owner stays unknown.
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
      // The process has ended, or may not be read.
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
      // Not this one.
    }
    return false;
  }
}
