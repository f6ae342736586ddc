package ipmasq.net;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations as Go writes them: {@code 1h30m}, {@code 1.5h}, {@code 500ms}, {@code +5s}. A sign,
 * then numbers with a unit each, in any order, any number of times.
 */
public final class GoDuration {
  private static final Pattern TERM = Pattern.compile("([0-9]+\\.?[0-9]*|\\.[0-9]+)([^0-9.]*)");
  private static final BigInteger MOST = BigInteger.valueOf(Long.MAX_VALUE);
  private static final Map<String, Long> UNITS =
      Map.of(
          "ns", 1L,
          "us", 1_000L,
          "\u00b5s", 1_000L, // the micro sign
          "\u03bcs", 1_000L, // the Greek letter
          "ms", 1_000_000L,
          "s", 1_000_000_000L,
          "m", 60_000_000_000L,
          "h", 3_600_000_000_000L);

  private GoDuration() {}

  /** The result of parsing a duration. */
  public sealed interface Parsed {
    /** A duration, zero and negative ones included. */
    record Valid(Duration duration) implements Parsed {}

    /** Not a duration, and why. */
    record Malformed(String reason) implements Parsed {}
  }

  /** Parses the same texts as Go's {@code time.ParseDuration}. */
  public static Parsed parse(String text) {
    boolean negative = text.startsWith("-");
    String terms = negative || text.startsWith("+") ? text.substring(1) : text;
    if (terms.equals("0")) {
      return new Parsed.Valid(Duration.ZERO);
    }
    BigInteger total = BigInteger.ZERO;
    Matcher term = TERM.matcher(terms);
    int at = 0;
    for (; at < terms.length() && term.region(at, terms.length()).lookingAt(); at = term.end()) {
      Long unit = UNITS.get(term.group(2));
      if (unit == null) {
        String what =
            term.group(2).isEmpty() ? "missing unit" : "unknown unit \"" + term.group(2) + '"';
        return new Parsed.Malformed(what + " in duration \"" + text + '"');
      }
      String number = term.group(1).endsWith(".") ? term.group(1) + "0" : term.group(1);
      total =
          total.add(
              new BigDecimal(number)
                  .multiply(BigDecimal.valueOf(unit))
                  .setScale(0, RoundingMode.DOWN)
                  .toBigInteger());
    }
    boolean tooMuch = total.compareTo(negative ? MOST.add(BigInteger.ONE) : MOST) > 0;
    if (at < terms.length() || terms.isEmpty() || tooMuch) {
      return new Parsed.Malformed("invalid duration \"" + text + '"');
    }
    return new Parsed.Valid(Duration.ofNanos((negative ? total.negate() : total).longValue()));
  }
}
