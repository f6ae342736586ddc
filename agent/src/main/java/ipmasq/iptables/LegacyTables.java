package ipmasq.iptables;

import ipmasq.net.Family;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Which tables of iptables-legacy this network namespace has. Running a legacy program would load
 * its kernel modules; reading the kernel's own list does not.
 */
public interface LegacyTables {
  Presence look(Family family, String table);

  /** What the list says. */
  enum Presence {
    THERE,
    NOT_THERE,
    /** It cannot be read. */
    UNKNOWN
  }

  /** The kernel's list. */
  static LegacyTables ofKernel() {
    return (family, table) -> {
      Path net = Path.of("/proc/thread-self/net");
      try {
        Path list = net.resolve(family == Family.IPV4 ? "ip_tables_names" : "ip6_tables_names");
        return Files.readAllLines(list).contains(table) ? Presence.THERE : Presence.NOT_THERE;
      } catch (NoSuchFileException noModule) {
        return Files.isDirectory(net) ? Presence.NOT_THERE : Presence.UNKNOWN;
      } catch (IOException unreadable) {
        return Presence.UNKNOWN;
      }
    };
  }
}
