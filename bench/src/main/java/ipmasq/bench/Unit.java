package ipmasq.bench;

/** How a figure is written: with as many digits as mean something. */
enum Unit {
  RATIO(""),
  COUNT(""),
  MICROSECONDS(" µs"),
  MILLISECONDS(" ms"),
  MEGABYTES(" MB");

  private final String name;

  Unit(String name) {
    this.name = name;
  }

  String text(double value) {
    return (this == COUNT ? Long.toString(Math.round(value)) : digits(value)) + name;
  }

  /** Two digits, or three from a leading one on. */
  private static String digits(double value) {
    if (value == 0) {
      return "0";
    }
    int magnitude = (int) Math.floor(Math.log10(Math.abs(value)));
    int decimals = Math.max(0, (leadingOne(value, magnitude) ? 2 : 1) - magnitude);
    String text = ("%." + Math.min(decimals, 5) + "f").formatted(value);
    return magnitude >= 3 ? grouped(Math.round(value)) : text;
  }

  private static boolean leadingOne(double value, int magnitude) {
    return Math.abs(value) / Math.pow(10, magnitude) < 2;
  }

  static String grouped(long value) {
    return "%,d".formatted(value);
  }
}
