package ipmasq.plan;

/**
 * One line of a plan.
 *
 * @param subject what it is about, printed only when somebody reads it
 */
public record Change(Kind kind, Object subject) {
  /** What is done. */
  public enum Kind {
    ADD('+'),
    REMOVE('-'),
    REPAIR('~');

    private final char sign;

    Kind(char sign) {
      this.sign = sign;
    }
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
