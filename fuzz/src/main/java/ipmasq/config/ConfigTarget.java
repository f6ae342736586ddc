package ipmasq.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file is read the same way twice, and what is refused is refused for a reason. */
public final class ConfigTarget {
  private static final Path FILE = file();

  private ConfigTarget() {}

  /** In memory, where the machine has such a place. */
  private static Path file() {
    try {
      Path memory = Path.of("/dev/shm");
      Path file =
          Files.isWritable(memory)
              ? Files.createTempFile(memory, "ipmq-fuzz", "")
              : Files.createTempFile("ipmq-fuzz", "");
      file.toFile().deleteOnExit();
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static void fuzzerTestOneInput(byte[] data) throws IOException {
    Files.write(FILE, data);
    Reading reading = ConfigReader.read(FILE, FlagDefaults.none());
    if (!reading.equals(ConfigReader.read(FILE, FlagDefaults.none()))) {
      throw new AssertionError("read otherwise the second time: " + reading);
    }
    switch (reading) {
      case Reading.Read read -> {
        for (Problem problem : read.warnings()) {
          require(problem.severity() == Problem.Severity.WARNING, problem);
        }
        require(!read.config().resyncInterval().isNegative(), read);
      }
      case Reading.Rejected rejected ->
          require(
              rejected.problems().stream()
                  .anyMatch(problem -> problem.severity() == Problem.Severity.ERROR),
              rejected);
    }
  }

  private static void require(boolean holds, Object of) {
    if (!holds) {
      throw new AssertionError(of.toString());
    }
  }
}
