package ipmasq.config;

/** Pieces of sentences for people. */
final class Phrases {
  private static final int LONGEST = 60;

  private Phrases() {}

  /** Text in quotes, on one line, without terminal control characters. */
  static String quoted(String text) {
    return '"' + shortened(text) + '"';
  }

  static String shortened(String text) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      if (i == LONGEST) {
        return out.append('…').toString();
      }
      char c = text.charAt(i);
      if (c == '\n') {
        out.append("\\n");
      } else if (Character.isISOControl(c) || c == '\u2028' || c == '\u2029') {
        out.append("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) {
          out.append(Character.forDigit(c >> shift & 15, 16));
        }
      } else {
        out.append(c);
      }
    }
    return out.toString();
  }
}
