package ipmasq.config;

import ipmasq.config.Problem.Place;
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
  private final Path mountinfo;
  private List<FileSnapshot> files = List.of();
  private @Nullable FlagDefaults flags;
  private @Nullable Reading reading;
  private Reading.@Nullable Read good;

  /** The mount points that the files of the last good config were read from. */
  private Map<Path, String> mounts = Map.of();

  public ConfigFollower() {
    this(Path.of("/proc/self/mountinfo"));
  }

  ConfigFollower(Path mountinfo) {
    this.mountinfo = mountinfo;
  }

  /** The reading of a file on a mount that does not answer: a bad file until it does. */
  public static Reading noAnswer(Path path, Duration patience) {
    Problem problem =
        new Problem(
            Severity.ERROR,
            Place.of(path.toString()),
            "cannot be read: no answer within " + Type.durationText(patience),
            "check its mount; it is read as soon as it answers");
    return new Reading.Rejected(List.of(problem), List.of(FileSnapshot.missing(path)));
  }

  /**
   * The files' settings over the flags' defaults; the same object as last time if neither changed.
   */
  public Reading read(List<FileSnapshot> found, FlagDefaults now) {
    Optional<Reading> unmounted = unmounted(found);
    if (unmounted.isPresent()) {
      return unmounted.get();
    }
    Reading last = reading;
    if (last == null || !found.equals(files) || !now.equals(flags)) {
      reading = null; // two of 100,000 ranges take memory
      last = ConfigReader.read(found, now);
      if (last instanceof Reading.Read config) {
        good = config;
        mounts = mountsOf(found);
      }
      files = found;
      flags = now;
      reading = last;
    }
    return last;
  }

  /**
   * A file that is gone together with its mount was not deleted by anybody: the config stays. If
   * the mount is still there, as that of a ConfigMap that was deleted, the defaults apply.
   */
  private Optional<Reading> unmounted(List<FileSnapshot> found) {
    Reading.Read before = good;
    for (FileSnapshot file : found) {
      String mount = file.isThere() ? null : mounts.get(file.path());
      if (mount != null && before != null && !mountPoints().contains(mount)) {
        String what = "the volume " + mount + " is not mounted any more: the last config stays";
        Problem problem =
            new Problem(
                Severity.WARNING,
                Place.of(file.path().toString()),
                what + " in force",
                "mount it again, or restart the agent without it");
        return Optional.of(
            new Reading.Read(
                before.config(),
                List.of(problem),
                before.sources(),
                before.places(),
                new Reading.Gap(before.gap().ignoredKeys(), what + " in force")));
      }
    }
    return Optional.empty();
  }

  private Map<Path, String> mountsOf(List<FileSnapshot> found) {
    Map<Path, String> result = new HashMap<>();
    List<String> points = mountPoints();
    for (FileSnapshot file : found) {
      points.stream()
          .filter(at -> file.isThere() && !at.equals("/"))
          .filter(at -> file.path().toAbsolutePath().startsWith(at))
          .max(Comparator.comparing(String::length))
          .ifPresent(at -> result.put(file.path(), at));
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
