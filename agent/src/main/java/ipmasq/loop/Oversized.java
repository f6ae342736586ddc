package ipmasq.loop;

import ipmasq.config.Reading;
import ipmasq.config.TooLarge;
import java.util.List;

/**
 * Remembers the config that the memory could not hold. Used by one thread.
 *
 * <p>Such a config is a bad file: the one before it stays in force. To try it again at the next
 * pass would only fail the same way, so it stays bad until the file changes.
 */
final class Oversized {
  private List<Reading.Source> files = List.of();

  /** The memory ended over this config. */
  void add(Reading.Read reading) {
    files = reading.sources();
  }

  /** What was read, or its refusal where it is known to be too large. */
  Reading sift(Reading reading) {
    boolean known = !files.isEmpty() && files.equals(reading.sources());
    return known ? TooLarge.of(files) : reading;
  }
}
