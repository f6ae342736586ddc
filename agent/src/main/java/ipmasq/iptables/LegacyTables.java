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
    return (family, table) ->
        in(
            Path.of("/proc/thread-self/net"),
            switch (family) {
              case IPV4 -> "ip_tables_names";
              case IPV6 -> "ip6_tables_names";
            },
            table);
  }

  private static Presence in(Path directory, String list, String table) {
    try {
      return Files.readAllLines(directory.resolve(list)).contains(table)
          ? Presence.THERE
          : Presence.NOT_THERE;
    } catch (NoSuchFileException noModule) {
      return Files.isDirectory(directory) ? Presence.NOT_THERE : Presence.UNKNOWN;
    } catch (IOException unreadable) {
      return Presence.UNKNOWN;
    }
  }
}
