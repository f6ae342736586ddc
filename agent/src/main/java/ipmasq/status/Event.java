package ipmasq.status;

import ipmasq.net.Family;
import ipmasq.plan.Change;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Something that an operator may ask about later.
 *
 * @param family empty if it does not concern one family only
 * @param backend whose rules it is about; empty if it is not about our rules
 * @param text what happened, in a sentence without a full stop
 * @param changes what was written
 * @param more how many further changes are left out of the list
 * @param rule the other program's rule that it is about
 * @param times how often it happened in a row, {@code at} being the first and {@code until} the
 *     last time
 */
public record Event(
    Instant at,
    Instant until,
    int times,
    EventKind kind,
    Optional<Family> family,
    Optional<String> backend,
    String text,
    List<Change> changes,
    int more,
    Optional<String> rule,
    Duration took) {

  /** What kind of thing it is. */
  public enum EventKind {
    /** Rules were written because the config asked for it. */
    CHANGED,
    /** Rules were written because another program had changed them. */
    REPAIRED,
    /** Rules could not be read or written. */
    FAILED,
    /** They could again. */
    RECOVERED,
    /** The config file became bad, or bad in another way. */
    REJECTED,
    /** The config file is good again. */
    ACCEPTED,
    /** Another program's rule began to override the config. */
    CONFLICT,
    /** It no longer does. */
    CONFLICT_GONE,
    /** Live flows began to go against the config. */
    FLOWS_WRONG,
    /** They no longer do. */
    FLOWS_RIGHT;

    /** As in JSON. */
    String word() {
      return switch (this) {
        case CHANGED -> "changed";
        case REPAIRED -> "repaired";
        case FAILED -> "failed";
        case RECOVERED -> "recovered";
        case REJECTED -> "rejected";
        case ACCEPTED -> "accepted";
        case CONFLICT -> "conflict";
        case CONFLICT_GONE -> "conflict-gone";
        case FLOWS_WRONG -> "flows-wrong";
        case FLOWS_RIGHT -> "flows-right";
      };
    }
  }

  public Event {
    changes = List.copyOf(changes);
  }

  static Event of(Instant at, EventKind kind, String text) {
    return new Event(
        at,
        at,
        1,
        kind,
        Optional.empty(),
        Optional.empty(),
        text,
        List.of(),
        0,
        Optional.empty(),
        Duration.ZERO);
  }

  /** The same, about our rules in one place. */
  Event in(Family where, String whose) {
    return new Event(
        at,
        until,
        times,
        kind,
        Optional.of(where),
        Optional.of(whose),
        text,
        changes,
        more,
        rule,
        took);
  }

  /** The same, about another program's rule. */
  Event about(Family where, String foreign) {
    return new Event(
        at,
        until,
        times,
        kind,
        Optional.of(where),
        backend,
        text,
        changes,
        more,
        Optional.of(foreign),
        took);
  }

  Event writing(List<Change> what, int left, Duration time) {
    return new Event(at, until, times, kind, family, backend, text, what, left, rule, time);
  }

  /** Whether the other one says the same, apart from the time. */
  boolean repeats(Event other) {
    return kind == other.kind
        && family.equals(other.family)
        && backend.equals(other.backend)
        && text.equals(other.text)
        && changes.equals(other.changes)
        && rule.equals(other.rule);
  }

  /** This event, repeated later. */
  Event again(Instant later) {
    return new Event(at, later, times + 1, kind, family, backend, text, changes, more, rule, took);
  }
}
