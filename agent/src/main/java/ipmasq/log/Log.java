package ipmasq.log;

import ipmasq.json.Json;
import java.time.Clock;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Lines for the operator, on one stream. Safe for use by several threads.
 *
 * <p>A state is logged when it changes, not each time it is seen; that is the caller's part.
 */
public final class Log {
  /** How a line looks. */
  public enum Format {
    TEXT,
    JSON
  }

  private enum Level {
    INFO,
    WARN,
    ERROR
  }

  private final Consumer<String> lines;
  private final Clock clock;
  private final Format format;
  private final int verbosity;

  /**
   * @param lines takes each line, without its end
   */
  public Log(Consumer<String> lines, Clock clock, Format format, int verbosity) {
    this.lines = lines;
    this.clock = clock;
    this.format = format;
    this.verbosity = verbosity;
  }

  /** Something an operator wants to see once: a change, a start, a recovery. */
  public void info(String message) {
    write(Level.INFO, message);
  }

  /** The same, shown from this {@code --v} on, and put into words only then. */
  public void detail(int from, Supplier<String> message) {
    if (verbosity >= from) {
      write(Level.INFO, message.get());
    }
  }

  /** Something to look at, though masquerading works. */
  public void warn(String message) {
    write(Level.WARN, message);
  }

  /** Something that does not work. */
  public void error(String message) {
    write(Level.ERROR, message);
  }

  private void write(Level level, String message) {
    lines.accept(line(clock, format, level, message));
  }

  /** The line that says that others are missing. */
  public static String dropped(Clock clock, Format format, long count) {
    return line(
        clock, format, Level.WARN, count + " log lines were dropped: nobody read them in time");
  }

  private static String line(Clock clock, Format format, Level level, String message) {
    String time = millis(clock.instant());
    return switch (format) {
      case TEXT -> time + " " + level + " " + message;
      case JSON -> {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("time", time);
        line.put("level", level);
        line.put("message", message);
        yield Json.write(line);
      }
    };
  }

  /** ISO 8601 to the millisecond, always of the same width, without a formatter's start-up cost. */
  private static String millis(Instant instant) {
    String seconds = Instant.ofEpochSecond(instant.getEpochSecond()).toString();
    String fraction = String.valueOf(1000 + instant.getNano() / 1_000_000).substring(1);
    return seconds.substring(0, seconds.length() - 1) + "." + fraction + "Z";
  }
}
