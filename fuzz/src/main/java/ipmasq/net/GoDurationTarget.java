package ipmasq.net;

import static java.nio.charset.StandardCharsets.UTF_8;

/** What is a duration is one again with a sign, and the other way round. */
public final class GoDurationTarget {
  private GoDurationTarget() {}

  public static void fuzzerTestOneInput(byte[] data) {
    String text = new String(data, UTF_8);
    boolean signed = text.startsWith("-") || text.startsWith("+");
    if (GoDuration.parse(text) instanceof GoDuration.Parsed.Valid(var duration) && !signed) {
      if (!GoDuration.parse("+" + text).equals(new GoDuration.Parsed.Valid(duration))
          || !GoDuration.parse("-" + text)
              .equals(new GoDuration.Parsed.Valid(duration.negated()))) {
        throw new AssertionError(text);
      }
    }
  }
}
