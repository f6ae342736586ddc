package ipmasq.config;

import ipmasq.config.Problem.Severity;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The configured paths and the files behind them. Used by one thread at a time.
 *
 * @param ifMissing what a missing file means
 */
public record ConfigPaths(List<Path> paths, IfMissing ifMissing) {
  private static final String PREFIX = "ip-masq";
  private static final int NAMED = 5;

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
      all.add(isMissing(file) ? missing(path) : file);
      return;
    }
    try {
      List<Path> files = list(path);
      List<Path> ours = files.stream().filter(ConfigPaths::isOurs).toList();
      if (ours.isEmpty()) {
        all.add(noneIn(path, files));
      }
      for (Path file : ours) {
        all.add(FileSnapshot.at(file, left(all)));
      }
    } catch (IOException e) {
      all.add(
          FileSnapshot.with(
              path, Severity.ERROR, "the directory cannot be read", "check its permissions"));
    }
  }

  private static int left(List<FileSnapshot> read) {
    int taken = 0;
    for (FileSnapshot file : read) {
      taken += file.bytes().map(bytes -> bytes.array().length).orElse(0);
    }
    return SizeLimit.BYTES - taken;
  }

  private static boolean isMissing(FileSnapshot file) {
    return file.bytes().isEmpty() && file.problem().isEmpty();
  }

  private static boolean isOurs(Path file) {
    return file.getFileName().toString().startsWith(PREFIX);
  }

  private static FileSnapshot noneIn(Path directory, List<Path> others) {
    return FileSnapshot.with(
        directory,
        Severity.WARNING,
        "a directory without ip-masq* files" + butThereIs(others) + ": the defaults apply",
        "name the files ip-masq-agent, ip-masq-more and so on");
  }

  private FileSnapshot missing(Path path) {
    List<Path> keys = otherKeys(path);
    String what = "there is no such file" + butThereIs(keys);
    String hint =
        keys.isEmpty()
            ? "check the path"
            : "give the ConfigMap's key the name " + path.getFileName() + ", or name its file";
    return switch (ifMissing) {
      case ERROR -> FileSnapshot.with(path, Severity.ERROR, what, hint);
      case WARNING ->
          FileSnapshot.with(path, Severity.WARNING, what + ": the defaults apply", hint);
      case DEFAULTS ->
          keys.isEmpty()
              ? FileSnapshot.missing(path)
              : FileSnapshot.with(path, Severity.WARNING, what + ": the defaults apply", hint);
    };
  }

  private static String butThereIs(List<Path> files) {
    if (files.isEmpty()) {
      return "";
    }
    List<String> names =
        files.stream().limit(NAMED).map(file -> file.getFileName().toString()).toList();
    String more = files.size() > NAMED ? " and " + (files.size() - NAMED) + " more" : "";
    return ", but " + String.join(", ", names) + more + (files.size() == 1 ? " is" : " are");
  }

  /** The files of a ConfigMap volume (its keys), if the path is in one. */
  private static List<Path> otherKeys(Path path) {
    Path directory = path.toAbsolutePath().getParent();
    if (directory == null || !Files.isDirectory(directory.resolve("..data"))) {
      return List.of();
    }
    try {
      return list(directory);
    } catch (IOException unknown) {
      return List.of();
    }
  }

  /**
   * The files of a directory by name, without hidden ones: a ConfigMap volume has links to files,
   * and hidden directories.
   */
  private static List<Path> list(Path directory) throws IOException {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        if (!entry.getFileName().toString().startsWith(".") && !Files.isDirectory(entry)) {
          files.add(entry);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    files.sort(null);
    return files;
  }
}
