package ipmasq.log;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Something that happened: a line for people, and its parts for collectors.
 *
 * @param message the line
 * @param fields further parts by name, in order; only JSON has them
 */
public record LogEvent(Kind kind, String message, Map<String, Object> fields) {

  /** What happened. The schema of the output lists them. */
  public enum Kind {
    START,
    STOP,
    FLAG_IGNORED,
    DRY_RUN,
    LISTENING,
    LISTEN_FAILED,
    LINES_DROPPED,
    CONFIG_UNWATCHED,
    THREAD_REFUSED,
    CONFIG_PROBLEM,
    CONFIG_BAD,
    CONFIG_GOOD,
    BACKEND,
    IN_FORCE,
    NODE_WARNING,
    RULES_CHANGED,
    RULES_PENDING,
    RULES_FAILED,
    RULES_RECOVERED,
    RULES_IN_PLACE,
    RULES_REMOVED,
    REMOVE_FAILED,
    SWEPT,
    SWEEP_PENDING,
    SWEEP_FAILED,
    FLOWS,
    FLOWS_WRONG,
    FLOWS_RIGHT,
    FLOW_SAMPLE_FAILED,
    ANSWERS_STOPPED,
    ANSWERS_RETURNED,
    PROBATION,
    ROLLED_BACK,
    STATE_FOLDER,
    FIGHT,
    FIGHT_OVER,
    CONFLICT,
    CONFLICT_GONE;

    /** As JSON spells it: {@code rules-changed}. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  public LogEvent {
    fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
  }

  public static LogEvent of(Kind kind, String message) {
    return new LogEvent(kind, message, Map.of());
  }

  /** The same with one more field. */
  public LogEvent with(String name, Object value) {
    Map<String, Object> more = new LinkedHashMap<>(fields);
    more.put(name, value);
    return new LogEvent(kind, message, more);
  }
}
