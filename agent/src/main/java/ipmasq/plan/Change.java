package ipmasq.plan;

/** One line of a plan. */
public record Change(Kind kind, String what) {
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

  /** As a diff shows it: {@code +10.1.0.0/16}. */
  @Override
  public String toString() {
    return kind.sign + what;
  }
}
