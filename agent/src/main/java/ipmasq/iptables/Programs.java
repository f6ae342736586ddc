package ipmasq.iptables;

import ipmasq.net.Family;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Where programs are found: the directories of PATH, in turn. */
public record Programs(String path) {
  public static Programs ofEnvironment() {
    String path = System.getenv("PATH");
    return new Programs(path == null ? "/usr/sbin:/usr/bin:/sbin:/bin" : path);
  }

  public Optional<Path> find(String name) {
    int from = 0;
    while (from <= path.length()) {
      int colon = path.indexOf(':', from);
      int to = colon < 0 ? path.length() : colon;
      // An empty entry would mean the working directory, from which root must not run programs.
      if (to > from) {
        Path candidate = Path.of(path.substring(from, to), name);
        if (Files.isExecutable(candidate) && !Files.isDirectory(candidate)) {
          return Optional.of(candidate);
        }
      }
      from = to + 1;
    }
    return Optional.empty();
  }

  /** The program of this kind: that with the explicit name, else one whose links lead to it. */
  public Optional<String> iptables(Family family, Variant.Kind kind, String suffix) {
    String infix = kind == Variant.Kind.NFT ? "-nft" : "-legacy";
    String named = Variant.program(family, infix) + suffix;
    String plain = Variant.program(family, "") + suffix;
    if (find(named).isPresent()) {
      return Optional.of(named);
    }
    return kind(plain) == kind ? Optional.of(plain) : Optional.empty();
  }

  /**
   * The variant of iptables behind a name, by following its links:
   *
   * <pre>iptables-save → /etc/alternatives/iptables-save → iptables-nft-save → xtables-nft-multi
   * </pre>
   */
  public Variant.Kind kind(String name) {
    Optional<Path> found = find(name);
    if (found.isEmpty()) {
      return Variant.Kind.UNKNOWN;
    }
    try {
      String file = found.get().toRealPath().getFileName().toString();
      return file.contains("nft")
          ? Variant.Kind.NFT
          : file.contains("legacy") ? Variant.Kind.LEGACY : Variant.Kind.UNKNOWN;
    } catch (IOException gone) {
      return Variant.Kind.UNKNOWN;
    }
  }
}
