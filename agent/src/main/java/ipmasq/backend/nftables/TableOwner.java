package ipmasq.backend.nftables;

import ipmasq.net.ForeignText;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

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
    try {
      // Address, protocol, port, …, inode
      for (String line : Files.readAllLines(PROC.resolve("thread-self/net/netlink"))) {
        String[] words = line.strip().split("\\s+");
        if (words.length == 10 && words[1].equals(NETFILTER) && words[2].equals(number)) {
          Optional<Path> process = holder("socket:[" + words[9] + "]");
          if (process.isPresent()) {
            String name = Files.readString(process.get().resolve("comm")).strip();
            return "process " + process.get().getFileName() + " (" + new ForeignText(name) + ")";
          }
        }
      }
    } catch (IOException hidden) {
      // Said below.
    }
    return "a process that cannot be seen from here (netlink port " + number + ")";
  }

  private static Optional<Path> holder(String socket) throws IOException {
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path process : processes) {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
          for (Path descriptor : descriptors) {
            if (Files.readSymbolicLink(descriptor).toString().equals(socket)) {
              return Optional.of(process);
            }
          }
        } catch (IOException ended) {
          // Not this one.
        }
      }
    }
    return Optional.empty();
  }
}
