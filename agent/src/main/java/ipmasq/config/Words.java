package ipmasq.config;

import ipmasq.net.ForeignText;
import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/** Words of a file or a command line, in sentences about them. */
public final class Words {
  private static final int LONGEST = 60;

  private Words() {}

  /** Text in quotes, on one line, without terminal control characters. */
  static String quoted(String text) {
    return '"' + shortened(text) + '"';
  }

  static String shortened(String text) {
    String start = text.length() > LONGEST ? text.substring(0, LONGEST) : text;
    return new ForeignText(start.replace("\n", "\\n")).text() + (start.equals(text) ? "" : "…");
  }

  /**
   * The known word that was probably meant: the one with the fewest letters to change, if few
   * enough; upper and lower case are alike.
   */
  public static Optional<String> nearest(String word, Collection<String> known) {
    Optional<String> nearest = Optional.empty();
    int least = Math.max(1, word.length() / 3);
    for (String candidate : known) {
      int distance = distance(word.toLowerCase(Locale.ROOT), candidate.toLowerCase(Locale.ROOT));
      if (distance <= least && (nearest.isEmpty() || distance < least)) {
        least = distance;
        nearest = Optional.of(candidate);
      }
    }
    return nearest;
  }

  /** Letters to insert, delete or replace (Levenshtein), one row of the table at a time. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replace = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replace, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[b.length()];
  }
}
