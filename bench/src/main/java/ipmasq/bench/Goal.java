package ipmasq.bench;

/**
 * Something that was promised, beside what was measured.
 *
 * @param limit the most that was promised
 */
record Goal(String what, double limit, double measured, Unit unit) {
  boolean met() {
    return measured <= limit;
  }

  /** As a row of the report. */
  String[] row() {
    return new String[] {what, "≤ " + unit.text(limit), unit.text(measured), met() ? "yes" : "NO"};
  }
}
