package ipmasq.backend.iptables;

/** The share of packets that a rule takes, as the kernel holds it: 31 fraction bits. */
record Probability(int fixed) {
  /** Every packet: the rule has no such match. */
  static final Probability ALWAYS = new Probability(0);

  private static final int BITS = 31;
  private static final int DIGITS = 11; // as iptables prints; more than the kernel's precision

  static Probability of(long part, long whole) {
    return new Probability((int) (((part << BITS + 1) / whole + 1) >> 1));
  }

  /** Parses {@code 0.46929256292}; {@link #ALWAYS} if it is not a number. */
  static Probability parse(String text) {
    if (!text.startsWith("0.") || text.length() > 2 + 18 || text.length() == 2) {
      return ALWAYS;
    }
    double value = 0;
    double weight = 1;
    for (int i = 2; i < text.length(); i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return ALWAYS;
      }
      weight /= 10;
      value += digit * weight;
    }
    return new Probability((int) Math.round(value * (1L << BITS)));
  }

  @Override
  public String toString() {
    StringBuilder digits = new StringBuilder("0.");
    long rest = fixed;
    for (int i = 0; i < DIGITS; i++) {
      rest *= 10;
      digits.append((char) ('0' + (rest >> BITS)));
      rest &= (1L << BITS) - 1;
    }
    if (rest >= 1L << BITS - 1) {
      roundUp(digits);
    }
    return digits.toString();
  }

  private static void roundUp(StringBuilder digits) {
    int at = digits.length() - 1;
    while (digits.charAt(at) == '9') {
      digits.setCharAt(at--, '0');
    }
    digits.setCharAt(at, (char) (digits.charAt(at) + 1));
  }
}
