package ipmasq.config;

import java.nio.file.Path;
import java.util.List;

/**
 * A file, or a manifest, is read the same way twice, and what is refused is refused for a reason.
 */
public final class ConfigTarget {
  private ConfigTarget() {}

  public static void fuzzerTestOneInput(byte[] data) {
    FileSnapshot file = FileSnapshot.of(Path.of("file"), data);
    Reading reading = read(file);
    if (!reading.equals(read(file))) {
      throw new AssertionError("read otherwise the second time: " + reading);
    }
    holds(reading);
    ConfigMapManifest.read(file, FlagDefaults.none()).ifPresent(ConfigTarget::holds);
  }

  private static Reading read(FileSnapshot file) {
    return ConfigReader.read(List.of(file), FlagDefaults.none());
  }

  private static void holds(Reading reading) {
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
