package ipmasq.net;

import java.time.Duration;

/**
 * Durations as Go writes them: {@code 1h30m}, {@code 1.5h}, {@code 500ms}, {@code +5s}.
 *
 * <p>A sign, then numbers with a unit each, in any order, any number of times. All arithmetic is in
 * unsigned nanoseconds, and a fraction goes through a double, exactly as Go does it: the same text
 * means the same duration.
 */
public final class GoDuration {
  /** The largest magnitude: the nanoseconds of the most negative duration. */
  private static final long LIMIT = Long.MIN_VALUE; // 2^63 as an unsigned number

  private final String text;
  private int at;

  private GoDuration(String text) {
    this.text = text;
  }

  /** The result of parsing a duration. */
  public sealed interface ParsedDuration {
    /** A duration, zero and negative ones included. */
    record Value(Duration duration) implements ParsedDuration {}

    /** Not a duration, and why. */
    record MalformedDuration(String reason) implements ParsedDuration {}
  }

  /** Parses the same texts as Go's {@code time.ParseDuration}. */
  public static ParsedDuration parse(String text) {
    try {
      return new ParsedDuration.Value(Duration.ofNanos(new GoDuration(text).nanos()));
    } catch (Refusal refusal) {
      return new ParsedDuration.MalformedDuration(String.valueOf(refusal.getMessage()));
    }
  }

  private long nanos() throws Refusal {
    boolean negative = text.startsWith("-");
    if (negative || text.startsWith("+")) {
      at++;
    }
    if (text.startsWith("0", at) && at + 1 == text.length()) {
      return 0;
    }
    if (at == text.length()) {
      throw invalid();
    }
    long total = 0;
    while (at < text.length()) {
      total += term();
      if (Long.compareUnsigned(total, LIMIT) > 0) {
        throw invalid();
      }
    }
    if (negative) {
      return -total;
    }
    if (total == LIMIT) {
      throw invalid();
    }
    return total;
  }

  /** A number and its unit, in nanoseconds. */
  private long term() throws Refusal {
    int start = at;
    long whole = digits();
    boolean anyDigit = at > start;
    long fraction = 0;
    double scale = 1;
    if (at < text.length() && text.charAt(at) == '.') {
      at++;
      boolean full = false;
      for (; at < text.length() && isDigit(text.charAt(at)); at++) {
        anyDigit = true;
        long next = fraction * 10 + text.charAt(at) - '0';
        // Digits beyond 63 bits are read and dropped.
        full = full || fraction > Long.MAX_VALUE / 10 || Long.compareUnsigned(next, LIMIT) > 0;
        if (!full) {
          fraction = next;
          scale *= 10;
        }
      }
    }
    if (!anyDigit) {
      throw invalid();
    }
    long unit = unit();
    if (Long.compareUnsigned(whole, Long.divideUnsigned(LIMIT, unit)) > 0) {
      throw invalid();
    }
    long value = whole * unit + (long) ((fraction < 0 ? 0x1p63 : fraction) * (unit / scale));
    if (Long.compareUnsigned(value, LIMIT) > 0) {
      throw invalid();
    }
    return value;
  }

  private long digits() throws Refusal {
    long value = 0;
    for (; at < text.length() && isDigit(text.charAt(at)); at++) {
      if (Long.compareUnsigned(value, Long.divideUnsigned(LIMIT, 10)) > 0) {
        throw invalid();
      }
      value = value * 10 + text.charAt(at) - '0';
      if (Long.compareUnsigned(value, LIMIT) > 0) {
        throw invalid();
      }
    }
    return value;
  }

  private long unit() throws Refusal {
    int start = at;
    while (at < text.length() && text.charAt(at) != '.' && !isDigit(text.charAt(at))) {
      at++;
    }
    String unit = text.substring(start, at);
    return switch (unit) {
      case "ns" -> 1L;
      case "us", "\u00b5s", "\u03bcs" -> 1_000L; // the micro sign and the Greek letter
      case "ms" -> 1_000_000L;
      case "s" -> 1_000_000_000L;
      case "m" -> 60_000_000_000L;
      case "h" -> 3_600_000_000_000L;
      case "" -> throw new Refusal("missing unit in duration \"" + text + "\"");
      default -> throw new Refusal("unknown unit \"" + unit + "\" in duration \"" + text + "\"");
    };
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  private Refusal invalid() {
    return new Refusal("invalid duration \"" + text + "\"");
  }

  private static final class Refusal extends Exception {
    private static final long serialVersionUID = 1;

    Refusal(String reason) {
      super(reason, null, false, false);
    }
  }
}
