package ipmasq.cni;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/** A CNI config is left alone, or edited to one that holds what is wanted and needs no edit. */
public final class CniTarget {
  private static final Path FILE = Path.of("/cni/net.conf");
  private static final LinkedHashSet<Cidr> WANTED =
      new LinkedHashSet<>(List.of(Cidr.of("10.0.0.0/8"), Cidr.of("172.16.0.0/12")));

  private CniTarget() {}

  public static void fuzzerTestOneInput(byte[] data) {
    Files disk = new Files();
    disk.bytes.put(FILE, data);
    if (!edit(disk)) {
      return;
    }
    byte[] once = disk.bytes.get(FILE);
    if (!edit(disk)) {
      throw new AssertionError("no longer a config: " + new String(once, StandardCharsets.UTF_8));
    }
    if (!Arrays.equals(once, disk.bytes.get(FILE))) {
      throw new AssertionError("edited again: " + new String(once, StandardCharsets.UTF_8));
    }
  }

  /** Whether it is a config with a list; brings the list of IPv4 to what is wanted. */
  private static boolean edit(Files disk) {
    CniConfig.Found found = CniConfig.find(disk, FILE);
    return found
        .config()
        .filter(config -> config.list(Family.IPV4).isPresent())
        .map(config -> new CniWriter(new AtomicFile(disk), config, Family.IPV4, false))
        .filter(writer -> writer.write(WANTED).isEmpty())
        .isPresent();
  }

  /** A disk that is not there. */
  private static final class Files implements Disk {
    final Map<Path, byte[]> bytes = new TreeMap<>();

    @Override
    public Optional<byte[]> read(Path file) {
      return Optional.ofNullable(bytes.get(file));
    }

    @Override
    public Optional<List<Path>> list(Path directory, Predicate<String> wanted, int most) {
      if (directory.equals(FILE)) {
        return Optional.empty();
      }
      return Optional.of(
          bytes.keySet().stream()
              .filter(file -> wanted.test(file.getFileName().toString()))
              .toList());
    }

    @Override
    public Optional<Stamp> stamp(Path file) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Path real(Path path) {
      return path;
    }

    @Override
    public void create(Path file, byte[] content) {
      bytes.put(file, content.clone());
    }

    @Override
    public void copyPermissions(Path file, Path like) {}

    @Override
    public void force(Path file) {}

    @Override
    public void move(Path from, Path to) {
      bytes.put(to, bytes.remove(from));
    }

    @Override
    public void forceDirectory(Path directory) {}

    @Override
    public void delete(Path file) {
      bytes.remove(file);
    }
  }
}
