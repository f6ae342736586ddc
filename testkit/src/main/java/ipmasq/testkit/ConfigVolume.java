package ipmasq.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A directory with the agent's config file, changed in all the ways in which people and machines
 * change it. Used by one thread.
 *
 * <p>What the kubelet mounts for a ConfigMap, and changes by one rename of {@code ..data}:
 *
 * <pre>
 *   ip-masq-agent -> ..data/ip-masq-agent
 *   ..data        -> ..2026_01_01_00_00_00.7
 *   ..2026_01_01_00_00_00.7/ip-masq-agent
 * </pre>
 */
public final class ConfigVolume implements AutoCloseable {
  private static final String FILE = "ip-masq-agent";
  private static final String DATA = "..data";

  private final Path directory = Trees.temporary("config");
  private int generation;

  /** An empty one: no config file. */
  public ConfigVolume() {}

  public Path directory() {
    return directory;
  }

  /** Where the agent's config file is, or would be. */
  public Path file() {
    return directory.resolve(FILE);
  }

  /** Makes this the config file, as the kubelet does. */
  public void publish(String config) {
    publish(Map.of(FILE, config));
  }

  /** Makes these all the files there are, as the kubelet does; none, for a ConfigMap that went. */
  public void publish(Map<String, String> files) {
    try {
      String name = "..2026_01_01_00_00_00." + ++generation;
      Path data = Files.createDirectory(directory.resolve(name));
      for (var file : files.entrySet()) {
        Files.writeString(data.resolve(file.getKey()), file.getValue());
      }
      Path link = directory.resolve(DATA);
      Path old = Files.isSymbolicLink(link) ? link.toRealPath() : null;
      Path swapped = Files.createSymbolicLink(directory.resolve(DATA + "_tmp"), Path.of(name));
      Files.move(swapped, link, StandardCopyOption.ATOMIC_MOVE);
      showOnly(files.keySet());
      if (old != null) {
        Trees.delete(old);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void showOnly(Set<String> names) throws IOException {
    Set<String> missing = new HashSet<>(names);
    try (Stream<Path> present = Files.list(directory)) {
      for (Path path : present.toList()) {
        String name = path.getFileName().toString();
        boolean shown = Files.isSymbolicLink(path) && missing.remove(name);
        if (!name.startsWith("..") && !shown) {
          Files.delete(path);
        }
      }
    }
    for (String name : missing) {
      Files.createSymbolicLink(directory.resolve(name), Path.of(DATA, name));
    }
  }

  /** Writes into the file itself: a reader may see it empty or half. */
  public void write(String config) {
    try {
      Files.writeString(file(), config);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes a file beside it and renames that into its place, as editors do. */
  public void replace(String config) {
    try {
      Path beside = Files.writeString(directory.resolve("." + FILE + ".new"), config);
      Files.move(beside, file(), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Deletes the file; a ConfigMap's goes by {@code publish(Map.of())}. */
  public void remove() {
    try {
      if (Files.exists(file(), LinkOption.NOFOLLOW_LINKS)) {
        Files.delete(file());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    Trees.delete(directory);
  }
}
