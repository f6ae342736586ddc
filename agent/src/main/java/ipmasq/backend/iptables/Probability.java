package ipmasq.backend.iptables;

/** The share of packets that a rule takes, as the kernel holds it: 31 fraction bits. */
record Probability(int fixed) {
  /** Every packet: the rule has no such match. */
  static final Probability ALWAYS = new Probability(0);

  private static final double ONE = 1L << 31;
  private static final long TEN_TO_11 = 100_000_000_000L; // as iptables prints; more is lost anyway

  static Probability of(long part, long whole) {
    return new Probability((int) Math.round(part * ONE / whole));
  }

  /** Parses {@code 0.46929256292}; {@link #ALWAYS} if it is not such a number. */
  static Probability parse(String text) {
    return text.matches("0\\.\\d{1,18}")
        ? new Probability((int) Math.round(Double.parseDouble(text) * ONE))
        : ALWAYS;
  }

  @Override
  public String toString() {
    return "0." + String.valueOf(TEN_TO_11 + Math.round(fixed * (TEN_TO_11 / ONE))).substring(1);
  }
}
