package ipmasq.plan;

import java.util.ArrayList;
import java.util.List;

/**
 * One line of a plan.
 *
 * @param subject what it is about; formatted only on demand
 */
public record Change(Kind kind, Object subject) {
  /** What is done. */
  public enum Kind {
    ADD('+', "added"),
    REMOVE('-', "removed"),
    REPAIR('~', "repaired");

    private final char sign;
    private final String done;

    Kind(char sign, String done) {
      this.sign = sign;
      this.done = done;
    }
  }

  /** How many changes a line names; the rest are only counted. */
  public static final int NAMED = 10;

  /**
   * How many of each kind, and the first of each: {@code 1 added, 2 removed: +10.1.0.0/16
   * -10.2.0.0/16 -10.3.0.0/16}.
   */
  public static String few(List<Change> changes) {
    StringBuilder counts = new StringBuilder();
    for (Kind kind : Kind.values()) {
      long count = count(changes, kind);
      if (count > 0) {
        counts.append(counts.isEmpty() ? "" : ", ").append(count).append(' ').append(kind.done);
      }
    }
    StringBuilder text = new StringBuilder();
    List<Change> named = named(changes);
    named.forEach(change -> text.append(' ').append(change));
    int more = changes.size() - named.size();
    return counts + ":" + text + (more == 0 ? "" : " and " + more + " more");
  }

  /** The first ones, of every kind that there is. */
  public static List<Change> named(List<Change> changes) {
    if (changes.size() <= NAMED) {
      return changes;
    }
    long kinds = changes.stream().map(Change::kind).distinct().count();
    List<Change> named = new ArrayList<>();
    for (Kind kind : Kind.values()) {
      changes.stream().filter(c -> c.kind == kind).limit(NAMED / kinds).forEach(named::add);
    }
    return named;
  }

  public static long count(List<Change> changes, Kind kind) {
    return changes.stream().filter(change -> change.kind == kind).count();
  }

  /** The subject in words: {@code 10.1.0.0/16}, {@code masquerade random-fully}. */
  public String what() {
    return subject.toString();
  }

  /** As a diff shows it: {@code +10.1.0.0/16}. */
  @Override
  public String toString() {
    return kind.sign + what();
  }
}
