package ipmasq.cni;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/** A CNI config is left alone, or edited to one that holds what is wanted and needs no edit. */
public final class CniTarget {
  private static final Path FILE = Path.of("/cni/net.conf");
  private static final LinkedHashSet<Cidr> WANTED =
      new LinkedHashSet<>(List.of(Cidr.of("10.0.0.0/8"), Cidr.of("172.16.0.0/12")));

  private CniTarget() {}

  public static void fuzzerTestOneInput(byte[] data) throws IOException {
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

  /** Whether it is a config; with every list of IPv4 brought to what is wanted. */
  private static boolean edit(Files disk) throws IOException {
    byte[] bytes = Objects.requireNonNull(disk.bytes.get(FILE)); // an edit removes no file
    if (!(CniFile.read(disk, FILE, bytes) instanceof CniFile.Read.Whole(var file))) {
      return false;
    }
    ListWriter writer = new ListWriter(new AtomicFile(disk), Family.IPV4, WANTED, false);
    return writer.write(file).isEmpty();
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
      return Optional.of(
          bytes.keySet().stream()
              .filter(file -> wanted.test(file.getFileName().toString()))
              .toList());
    }

    @Override
    public Optional<FileStamp> stamp(Path file) {
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
