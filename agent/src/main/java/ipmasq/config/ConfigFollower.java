package ipmasq.config;

import ipmasq.config.Problem.Severity;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads config files, and parses them only if they have changed: comparing a list of a hundred
 * thousand ranges is much cheaper than parsing it every minute. Used by one thread.
 *
 * <p>Files are read on a separate thread, so that a hanging mount blocks nobody: it counts as a bad
 * file until it answers. Files with much less content than before are read again a moment later,
 * since they may be half written.
 */
public final class ConfigFollower {
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final Duration MOMENT = Duration.ofMillis(300);

  /** After this many attempts a file that still changes is left to its writer. */
  private static final int MOMENTS = 4;

  /** Lets time pass. */
  interface Pause {
    void pause(Duration time);
  }

  /** Reads the files, and says at which path it is. */
  interface FileLook {
    List<FileSnapshot> look(Consumer<Path> progress);
  }

  private final List<Path> paths;
  private final FileLook look;
  private final TimedCall<List<FileSnapshot>> looks;
  private final Pause pause;
  private final AtomicReference<Path> lookingAt = new AtomicReference<>(Path.of(""));

  private List<FileSnapshot> files = List.of();
  private @Nullable FlagDefaults flags;
  private @Nullable Reading reading;
  private @Nullable Reading silence;
  private @Nullable Config good;

  public ConfigFollower(ConfigPaths paths) {
    this(paths, () -> {});
  }

  /**
   * @param answered runs on another thread when unreadable files can be read again
   */
  public ConfigFollower(ConfigPaths paths, Runnable answered) {
    this(paths.paths(), paths::look, PATIENCE, answered, ConfigFollower::sleep);
  }

  ConfigFollower(
      List<Path> paths, FileLook look, Duration patience, Runnable answered, Pause pause) {
    this.paths = paths;
    this.look = look;
    this.looks = new TimedCall<>("config-read", patience, answered);
    this.pause = pause;
  }

  private static void sleep(Duration time) {
    try {
      TimeUnit.NANOSECONDS.sleep(time.toNanos());
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * The files' settings over the flags' defaults; the same object as last time if neither changed.
   */
  public Reading read(FlagDefaults now) {
    try {
      Optional<List<FileSnapshot>> found = look();
      if (found.isEmpty()) {
        return noAnswer();
      }
      silence = null;
      Reading last = reading;
      if (last == null || !found.get().equals(files) || !now.equals(flags)) {
        reading = null;
        last = confirmed(found.get(), now);
      }
      return last;
    } catch (OutOfMemoryError full) {
      return TooLarge.unread(paths);
    }
  }

  private Optional<List<FileSnapshot>> look() {
    return looks.call(() -> look.look(lookingAt::set));
  }

  private Reading noAnswer() {
    Reading known = silence;
    if (known == null) {
      known =
          rejected(
              lookingAt.get(),
              "cannot be read: no answer within " + Key.RESYNC_INTERVAL.json(looks.patience()),
              "check its mount; it is read as soon as it answers");
      silence = known;
    }
    return known;
  }

  private static Reading rejected(Path path, String message, String hint) {
    Problem problem = new Problem(Severity.ERROR, path.toString(), 0, 0, message, hint);
    return new Reading.Rejected(
        List.of(problem), List.of(new Reading.SourceFile(path, Optional.empty())));
  }

  /** Parses files; those with much less content than before only once they have settled. */
  private Reading confirmed(List<FileSnapshot> first, FlagDefaults now) {
    List<FileSnapshot> found = first;
    for (int moment = 0; moment < MOMENTS; moment++) {
      Reading read = ConfigReader.read(found, now);
      if (!suspicious(found, read)) {
        return accepted(found, now, read);
      }
      pause.pause(MOMENT);
      Optional<List<FileSnapshot>> again = look();
      if (again.isEmpty()) {
        return noAnswer();
      }
      if (again.get().equals(found)) {
        return accepted(found, now, read);
      }
      found = again.get();
    }
    return rejected(
        found.getFirst().path(),
        "changes faster than it can be read, and says much less than before",
        "it is read again when it changes no more");
  }

  private boolean suspicious(List<FileSnapshot> found, Reading read) {
    Config before = good;
    return before != null
        && read instanceof Reading.Read now
        && (Shrinkage.of(before, now.config()) || Shrinkage.of(files, found));
  }

  private Reading accepted(List<FileSnapshot> found, FlagDefaults now, Reading read) {
    files = found;
    flags = now;
    reading = read;
    good = read instanceof Reading.Read(var config, var _, var _, var _) ? config : good;
    return read;
  }
}
