package ipmasq.backend.nftables;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Who owns a table, for people. */
final class Owner {
  private Owner() {}

  /**
   * The kernel names the owner's socket by its port, and that is its process id unless the process
   * has several sockets, or lives in another pid namespace.
   */
  static String of(int port) {
    Path name = Path.of("/proc", Integer.toUnsignedString(port), "comm");
    try {
      return "process " + port + " (" + Files.readString(name).strip() + ")";
    } catch (IOException nobody) {
      return "the owner of netlink port " + Integer.toUnsignedString(port);
    }
  }
}
