package ipmasq.config;

import java.util.List;
import java.util.Locale;

/** Pieces of sentences for people. */
final class Words {
  private static final int LONGEST = 60;

  private Words() {}

  /** Text in quotes, on one line, without what a terminal would act on. */
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

  /** The candidate that looks most like {@code word}; empty where none is close. */
  static String nearest(String word, List<String> candidates) {
    String lower = word.strip().toLowerCase(Locale.ROOT);
    String best = "";
    int bestDistance = Math.max(2, lower.length() / 3) + 1;
    if (lower.length() > 2 * LONGEST) {
      return best;
    }
    for (String candidate : candidates) {
      int distance = distance(lower, candidate.toLowerCase(Locale.ROOT));
      if (distance < bestDistance) {
        bestDistance = distance;
        best = candidate;
      }
    }
    return best;
  }

  /** How many characters to insert, drop, replace or swap with a neighbour. */
  private static int distance(String a, String b) {
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          d[i][j] = i + j;
          continue;
        }
        int change = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        d[i][j] = Math.min(d[i - 1][j - 1] + change, Math.min(d[i - 1][j], d[i][j - 1]) + 1);
        boolean swapped =
            i > 1
                && j > 1
                && a.charAt(i - 1) == b.charAt(j - 2)
                && a.charAt(i - 2) == b.charAt(j - 1);
        if (swapped) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.length()][b.length()];
  }
}
