package ipmasq.log;

import ipmasq.json.Json;
import ipmasq.net.ForeignText;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Lines for the operator, on one stream. Safe for use by several threads.
 *
 * <p>A state is logged when it changes, not each time it is seen; that is up to the caller.
 */
public final class Log {
  /** How a line looks. */
  public enum Format {
    TEXT,
    JSON
  }

  public enum Level {
    INFO,
    WARN,
    ERROR
  }

  /** What was logged, and when. */
  public record Line(Instant at, Level level, LogEvent event) {
    String text(Format format) {
      return switch (format) {
        case TEXT -> millis(at) + " " + level + " " + new ForeignText(event.message());
        case JSON -> Json.write(fields());
      };
    }

    /** As a line of JSON has it. */
    public Map<String, Object> fields() {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("time", millis(at));
      fields.put("level", level);
      fields.put("event", event.kind());
      fields.put("message", event.message());
      fields.putAll(event.fields());
      return fields;
    }
  }

  private static final int RECENT = 50;

  private final Consumer<String> lines;
  private final Clock clock;
  private final Format format;
  private final int verbosity;
  private volatile List<Line> recent = List.of();

  /**
   * @param lines receives each line, without its line end
   */
  public Log(Consumer<String> lines, Clock clock, Format format, int verbosity) {
    this.lines = lines;
    this.clock = clock;
    this.format = format;
    this.verbosity = verbosity;
  }

  /** Something an operator wants to see once: a change, a start, a recovery. */
  public void info(LogEvent event) {
    write(Level.INFO, event);
  }

  /** The same, shown from this {@code --v} level on; the text is built only then. */
  public void detail(int from, Supplier<LogEvent> event) {
    if (verbosity >= from) {
      lines.accept(new Line(clock.instant(), Level.INFO, event.get()).text(format));
    }
  }

  /** Something to look at, though masquerading works. */
  public void warn(LogEvent event) {
    write(Level.WARN, event);
  }

  /** Something that does not work. */
  public void error(LogEvent event) {
    write(Level.ERROR, event);
  }

  private synchronized void write(Level level, LogEvent event) {
    Line line = new Line(clock.instant(), level, event);
    lines.accept(line.text(format));
    List<Line> more =
        new ArrayList<>(recent.subList(recent.size() < RECENT ? 0 : 1, recent.size()));
    more.add(line);
    recent = List.copyOf(more);
  }

  /** The latest lines but those of details, the oldest first. It is another list with each line. */
  public List<Line> recent() {
    return recent;
  }

  /** The line that says that others are missing. */
  public static String dropped(Clock clock, Format format, long count) {
    String message = count + " log lines were dropped: they were not read in time";
    LogEvent event = LogEvent.of(LogEvent.Kind.LINES_DROPPED, message).with("lines", count);
    return new Line(clock.instant(), Level.WARN, event).text(format);
  }

  /** ISO 8601 to the millisecond, always of the same width, without a formatter's start-up cost. */
  private static String millis(Instant instant) {
    String seconds = Instant.ofEpochSecond(instant.getEpochSecond()).toString();
    String fraction = String.valueOf(1000 + instant.getNano() / 1_000_000).substring(1);
    return seconds.substring(0, seconds.length() - 1) + "." + fraction + "Z";
  }
}
