package ipmasq.config;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** From the paths that somebody named to the files behind them. */
final class Sources {
  private static final String PATTERN = "ip-masq";

  private Sources() {}

  /** Reads each file, and of each directory all {@code ip-masq*} files, sorted by name. */
  static List<ConfigFile> read(List<Path> paths) {
    List<ConfigFile> files = new ArrayList<>();
    for (Path path : paths) {
      if (Files.isDirectory(path)) {
        readDirectory(path, files);
      } else {
        files.add(ConfigFile.read(path));
      }
    }
    return files;
  }

  /** The same files, without a look into them. */
  static List<Path> files(List<Path> paths) throws IOException {
    List<Path> files = new ArrayList<>();
    for (Path path : paths) {
      if (Files.isDirectory(path)) {
        files.addAll(list(path));
      } else {
        files.add(path);
      }
    }
    return files;
  }

  private static List<Path> list(Path directory) throws IOException {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        // A ConfigMap's volume holds links to files, and directories of its own.
        if (entry.getFileName().toString().startsWith(PATTERN) && !Files.isDirectory(entry)) {
          found.add(entry);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    found.sort(null);
    return found;
  }

  private static void readDirectory(Path directory, List<ConfigFile> files) {
    Problems problems = new Problems(directory.toString());
    List<Path> found = List.of();
    try {
      found = list(directory);
    } catch (IOException e) {
      problems.error(0, 0, "the directory cannot be read", "check its permissions");
    }
    if (found.isEmpty()) {
      if (!problems.anyError()) {
        problems.warning(
            0,
            0,
            "a directory without ip-masq* files: the defaults hold",
            "name the files ip-masq-agent, ip-masq-more and so on");
      }
      files.add(ConfigFile.unread(directory, problems));
    }
    for (Path path : found) {
      files.add(ConfigFile.read(path));
    }
  }
}
