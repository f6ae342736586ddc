package ipmasq.plan;

import java.util.List;

/**
 * One line of a plan.
 *
 * @param subject what it is about; formatted only on demand
 */
public record Change(ChangeKind kind, Object subject) {
  /** What is done. */
  public enum ChangeKind {
    ADD('+'),
    REMOVE('-'),
    REPAIR('~');

    private final char sign;

    ChangeKind(char sign) {
      this.sign = sign;
    }
  }

  /** How many changes a line names; the rest are only counted. */
  public static final int NAMED = 10;

  /** The first of many, and how many more there are. */
  public static String few(List<Change> changes) {
    StringBuilder text = new StringBuilder();
    for (Change change : changes.subList(0, Math.min(NAMED, changes.size()))) {
      text.append(text.isEmpty() ? "" : " ").append(change);
    }
    int more = changes.size() - NAMED;
    return more <= 0 ? text.toString() : text + " and " + more + " more";
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
