package ipmasq.config;

import ipmasq.config.Problem.Severity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The configured paths and the files behind them. Used by one thread at a time.
 *
 * @param ifMissing what a missing file means
 */
public record ConfigPaths(List<Path> paths, IfMissing ifMissing) {
  /** What a missing file means. */
  public enum IfMissing {
    /** The defaults, silently. */
    DEFAULTS,
    /** The defaults, with a warning, because the file was named. */
    WARNING,
    ERROR
  }

  public ConfigPaths {
    paths = List.copyOf(paths);
  }

  /** Reads all of them. May block on a mount. */
  public List<FileSnapshot> read() {
    return read(_ -> {});
  }

  /**
   * @param progress receives each path before it is read
   */
  public List<FileSnapshot> read(Consumer<Path> progress) {
    List<FileSnapshot> all = new ArrayList<>();
    for (Path path : paths) {
      progress.accept(path);
      read(path, all);
    }
    return all;
  }

  /** Reads a path: the file, or of a directory all {@code ip-masq*} files, sorted by name. */
  private void read(Path path, List<FileSnapshot> all) {
    if (!Files.isDirectory(path)) {
      FileSnapshot file = FileSnapshot.at(path, left(all));
      all.add(file.isThere() || file.problem().isPresent() ? file : missing(path));
      return;
    }
    try {
      List<Path> files = list(path);
      List<Path> ours = files.stream().filter(file -> name(file).startsWith("ip-masq")).toList();
      ours.forEach(file -> all.add(FileSnapshot.at(file, left(all))));
      if (ours.isEmpty()) {
        all.add(
            FileSnapshot.with(
                path,
                Severity.WARNING,
                "a directory without ip-masq* files" + butThereIs(files) + ": the defaults apply",
                "name the files ip-masq-agent, ip-masq-more and so on"));
      }
    } catch (IOException e) {
      all.add(
          FileSnapshot.with(
              path, Severity.ERROR, "the directory cannot be read", "check its permissions"));
    }
  }

  private static int left(List<FileSnapshot> read) {
    return FileSnapshot.MAX_BYTES - read.stream().mapToInt(FileSnapshot::size).sum();
  }

  private FileSnapshot missing(Path path) {
    List<Path> keys = otherKeys(path);
    if (keys.isEmpty() && ifMissing == IfMissing.DEFAULTS) {
      return FileSnapshot.missing(path);
    }
    boolean error = ifMissing == IfMissing.ERROR;
    return FileSnapshot.with(
        path,
        error ? Severity.ERROR : Severity.WARNING,
        "there is no such file" + butThereIs(keys) + (error ? "" : ": the defaults apply"),
        keys.isEmpty()
            ? "check the path"
            : "give the ConfigMap's key the name " + name(path) + ", or name its file");
  }

  private static String butThereIs(List<Path> files) {
    String names = files.stream().map(ConfigPaths::name).collect(Collectors.joining(", "));
    return names.isEmpty()
        ? ""
        : ", but " + Words.shortened(names) + (files.size() == 1 ? " is" : " are");
  }

  /** The files of a ConfigMap volume (its keys), if the path is in one. */
  private static List<Path> otherKeys(Path path) {
    Path directory = path.toAbsolutePath().getParent();
    try {
      return directory != null && Files.isDirectory(directory.resolve("..data"))
          ? list(directory)
          : List.of();
    } catch (IOException unknown) {
      return List.of();
    }
  }

  /**
   * The files of a directory by name, without hidden ones: a ConfigMap volume has links to files,
   * and hidden directories.
   */
  private static List<Path> list(Path directory) throws IOException {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries
          .filter(entry -> !name(entry).startsWith(".") && !Files.isDirectory(entry))
          .sorted()
          .toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static String name(Path file) {
    return String.valueOf(file.getFileName());
  }
}
