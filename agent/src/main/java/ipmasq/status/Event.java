package ipmasq.status;

import ipmasq.net.Family;
import ipmasq.plan.Change;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Something that an operator may ask about later.
 *
 * @param at the first time
 * @param until the last time
 * @param times how often it happened in a row
 */
public record Event(Instant at, Instant until, int times, What what) {
  public enum Kind {
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
    CONFLICT_GONE,
    /** Live flows began to go against the config. */
    FLOWS_WRONG,
    FLOWS_RIGHT;

    /** As in JSON. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /**
   * What happened.
   *
   * @param family empty if it does not concern one family only
   * @param backend whose rules it is about; empty if it is not about our rules
   * @param text a sentence without a full stop
   * @param changes what was written
   * @param more how many further changes are left out of the list
   * @param rule the other program's rule that it is about
   */
  public record What(
      Kind kind,
      Optional<Family> family,
      Optional<String> backend,
      String text,
      List<Change> changes,
      int more,
      Optional<String> rule) {
    private static final int NAMED = 20;

    static What of(Kind kind, String text) {
      return new What(
          kind, Optional.empty(), Optional.empty(), text, List.of(), 0, Optional.empty());
    }

    static What ofRules(
        Kind kind, Family family, String backend, String text, List<Change> written) {
      List<Change> named =
          written.stream()
              .limit(NAMED)
              .map(change -> new Change(change.kind(), change.what())) // the rule is not kept
              .toList();
      return new What(
          kind,
          Optional.of(family),
          Optional.of(backend),
          text,
          named,
          written.size() - named.size(),
          Optional.empty());
    }

    static What ofForeignRule(Kind kind, Family family, String text, String rule) {
      return new What(
          kind, Optional.of(family), Optional.empty(), text, List.of(), 0, Optional.of(rule));
    }
  }

  static Event once(Instant at, What what) {
    return new Event(at, at, 1, what);
  }

  /** The same, repeated later. */
  Event again(Instant later) {
    return new Event(at, later, times + 1, what);
  }
}
