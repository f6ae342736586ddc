package ipmasq.config;

import ipmasq.config.Problem.Severity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Parses config files again and again, but only if they have changed: comparing a list of a hundred
 * thousand ranges is much cheaper than parsing it every minute. Used by one thread.
 */
public final class ConfigFollower {
  private static final Path MOUNTS = Path.of("/proc/self/mountinfo");

  private final Path mountinfo;
  private List<FileSnapshot> files = List.of();
  private @Nullable FlagDefaults flags;
  private @Nullable Reading reading;
  private Reading.@Nullable Read good;

  /** The mount points that the files of the last good config were read from. */
  private Map<Path, String> mounts = Map.of();

  public ConfigFollower() {
    this(MOUNTS);
  }

  ConfigFollower(Path mountinfo) {
    this.mountinfo = mountinfo;
  }

  /** The reading of a file on a mount that does not answer: a bad file until it does. */
  public static Reading noAnswer(Path path, Duration patience) {
    Problem problem =
        new Problem(
            Severity.ERROR,
            path.toString(),
            0,
            0,
            "cannot be read: no answer within " + ScalarTypes.durationText(patience),
            "check its mount; it is read as soon as it answers");
    return new Reading.Rejected(
        List.of(problem), List.of(new Reading.SourceFile(path, Optional.empty())));
  }

  /**
   * The files' settings over the flags' defaults; the same object as last time if neither changed.
   */
  public Reading read(List<FileSnapshot> found, FlagDefaults now) {
    Reading last = reading;
    if (last == null || !found.equals(files) || !now.equals(flags)) {
      reading = null; // two of 100,000 ranges take memory
      last = unmounted(found).orElseGet(() -> parsed(found, now));
      files = found;
      flags = now;
      reading = last;
    }
    return last;
  }

  private Reading parsed(List<FileSnapshot> found, FlagDefaults now) {
    Reading read = ConfigReader.read(found, now);
    if (read instanceof Reading.Read config) {
      good = config;
      mounts = mountsOf(found);
    }
    return read;
  }

  /**
   * A file that is gone together with its mount was not deleted by anybody: the config stays. If
   * the mount is still there, as that of a ConfigMap that was deleted, the defaults apply.
   */
  private Optional<Reading> unmounted(List<FileSnapshot> found) {
    Reading.Read before = good;
    for (Map.Entry<Path, String> each : mounts.entrySet()) {
      Path path = each.getKey();
      String mount = each.getValue();
      boolean there =
          found.stream().anyMatch(file -> file.path().equals(path) && file.bytes().isPresent());
      if (before != null && !there && !mountPoints().contains(mount)) {
        String what = "the volume " + mount + " is not mounted any more";
        Problem problem =
            new Problem(
                Severity.WARNING,
                path.toString(),
                0,
                0,
                what + ": the last config stays in force",
                "mount it again, or restart the agent without it");
        return Optional.of(
            new Reading.Read(
                before.config(),
                List.of(problem),
                before.sources(),
                before.places(),
                new Reading.Gap(
                    before.gap().ignoredKeys(), what + ": the last config stays in force")));
      }
    }
    return Optional.empty();
  }

  private Map<Path, String> mountsOf(List<FileSnapshot> found) {
    Map<Path, String> result = new HashMap<>();
    List<String> points = mountPoints();
    for (FileSnapshot file : found) {
      if (file.bytes().isPresent()) {
        Path path = file.path().toAbsolutePath();
        points.stream()
            .filter(point -> !point.equals("/") && path.startsWith(point))
            .max(Comparator.comparing(String::length))
            .ifPresent(point -> result.put(file.path(), point));
      }
    }
    return result;
  }

  /** Every mount point of this process; none if the kernel does not say. */
  private List<String> mountPoints() {
    try {
      return Files.readAllLines(mountinfo, StandardCharsets.ISO_8859_1).stream()
          .map(line -> line.split(" ")[4])
          .toList();
    } catch (IOException | ArrayIndexOutOfBoundsException unknown) {
      return List.of();
    }
  }
}
