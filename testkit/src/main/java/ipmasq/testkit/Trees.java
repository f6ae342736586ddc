package ipmasq.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Directories with all that is in them. */
final class Trees {
  private Trees() {}

  static Path temporary(String kind) {
    try {
      return Files.createTempDirectory("ipmq-" + kind + "-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static void delete(Path root) {
    try (Stream<Path> found = Files.walk(root)) {
      List<Path> deepestFirst = found.sorted(Comparator.reverseOrder()).toList();
      for (Path path : deepestFirst) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot delete " + root, e);
    }
  }
}
