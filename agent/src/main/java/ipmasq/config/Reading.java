package ipmasq.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What came of reading the config. */
public sealed interface Reading {
  /**
   * A config that can be put in force, and what its author should know all the same.
   *
   * @param places where the files give a value that counts; of other keys nothing
   */
  record Read(
      Config config,
      List<Problem> warnings,
      List<SourceFile> sources,
      Map<Key<?>, List<Place>> places)
      implements Reading {
    public Read {
      warnings = List.copyOf(warnings);
      sources = List.copyOf(sources);
      places = Map.copyOf(places);
    }

    /** One of which nobody asks where its values stand. */
    public Read(Config config, List<Problem> warnings, List<SourceFile> sources) {
      this(config, warnings, sources, Map.of());
    }
  }

  /** Where a key stands. */
  record Place(String file, int line) {
    /** {@code path:3}. */
    @Override
    public String toString() {
      return file + ":" + line;
    }
  }

  /** Errors, and warnings beside them: whatever was in force stays in force. */
  record Rejected(List<Problem> problems, List<SourceFile> sources) implements Reading {
    public Rejected {
      problems = List.copyOf(problems);
      sources = List.copyOf(sources);
    }
  }

  /**
   * A file that was looked at.
   *
   * @param bytes empty if it is missing or cannot be read
   */
  record SourceFile(Path path, Optional<FileBytes> bytes) {
    /** The SHA-256 of its bytes in hex. */
    public Optional<String> hash() {
      return bytes.map(FileBytes::hash);
    }
  }

  /** The files that were looked at. */
  List<SourceFile> sources();
}
