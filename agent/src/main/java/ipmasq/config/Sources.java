package ipmasq.config;

import ipmasq.config.Problem.Severity;
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
  static List<Found> look(List<Path> paths) {
    List<Found> found = new ArrayList<>();
    for (Path path : paths) {
      Found file = Found.at(path);
      if (file.trouble() != null && Files.isDirectory(path)) {
        lookInto(path, found);
      } else {
        found.add(file);
      }
    }
    return found;
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

  private static void lookInto(Path directory, List<Found> found) {
    List<Path> files;
    try {
      files = list(directory);
    } catch (IOException e) {
      found.add(
          Found.troubled(
              directory, Severity.ERROR, "the directory cannot be read", "check its permissions"));
      return;
    }
    if (files.isEmpty()) {
      found.add(
          Found.troubled(
              directory,
              Severity.WARNING,
              "a directory without ip-masq* files: the defaults hold",
              "name the files ip-masq-agent, ip-masq-more and so on"));
    }
    for (Path file : files) {
      found.add(Found.at(file));
    }
  }
}
