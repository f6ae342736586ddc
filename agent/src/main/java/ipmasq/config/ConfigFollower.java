package ipmasq.config;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads config files, and makes sense of them only when they have changed: a list of a hundred
 * thousand ranges is compared in a moment, and not worked through every minute for nothing. Used by
 * one thread.
 */
public final class ConfigFollower {
  private final List<Path> sources;
  private List<Found> files = List.of();
  private @Nullable FlagDefaults base;
  private @Nullable Reading reading;

  public ConfigFollower(List<Path> sources) {
    this.sources = List.copyOf(sources);
  }

  /** What the files say over a base; the very same as last time where neither has changed. */
  public Reading read(FlagDefaults now) {
    try {
      List<Found> found = Sources.look(sources);
      Reading last = reading;
      if (last == null || !found.equals(files) || !now.equals(base)) {
        reading = null;
        last = sense(found, now);
        files = found;
        base = now;
        reading = last;
      }
      return last;
    } catch (OutOfMemoryError full) {
      return TooLarge.unread(sources);
    }
  }

  private static Reading sense(List<Found> found, FlagDefaults base) {
    if (found.isEmpty()) {
      return new Reading.Read(base.config(), List.of(), List.of());
    }
    return ConfigMerge.of(found.stream().map(ConfigFile::of).toList(), base);
  }
}
