package ipmasq.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads config files, and parses them only when they may have changed: a list of a hundred thousand
 * ranges is not worked through every minute for nothing. Used by one thread.
 */
public final class ConfigFollower {
  /** Two writes within one tick of a file system's clock look alike, so a young file is read. */
  private static final Duration YOUNG = Duration.ofSeconds(3);

  private final List<Path> sources;
  private final Clock clock;
  private @Nullable Base base;
  private Optional<List<Stamp>> stamps = Optional.empty();
  private Reading.@Nullable Read read;

  public ConfigFollower(List<Path> sources, Clock clock) {
    this.sources = List.copyOf(sources);
    this.clock = clock;
  }

  /** What tells one state of a file from another. */
  private record Stamp(Path path, Object file, Instant modified, long size) {}

  public Reading read(Base now) {
    Optional<List<Stamp>> seen = stamps();
    if (read != null && seen.isPresent() && seen.equals(stamps) && now.equals(base)) {
      return read;
    }
    Reading reading = ConfigReader.read(sources, now);
    base = now;
    stamps = seen;
    read = reading instanceof Reading.Read good ? good : null;
    return reading;
  }

  /** Nothing where one of them is missing, or too young to be told from what it is next. */
  private Optional<List<Stamp>> stamps() {
    List<Stamp> list = new ArrayList<>();
    try {
      for (Path path : Sources.files(sources)) {
        BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
        Instant modified = attributes.lastModifiedTime().toInstant();
        if (modified.isAfter(clock.instant().minus(YOUNG))) {
          return Optional.empty();
        }
        Object file = Objects.requireNonNullElse(attributes.fileKey(), path);
        list.add(new Stamp(path, file, modified, attributes.size()));
      }
    } catch (IOException cannotTell) {
      return Optional.empty();
    }
    return Optional.of(list);
  }
}
