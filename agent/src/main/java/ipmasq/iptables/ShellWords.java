package ipmasq.iptables;

import java.util.ArrayList;
import java.util.List;

/** The words of a line as iptables-save writes them and iptables-restore reads them. */
public final class ShellWords {
  private ShellWords() {}

  /**
   * Words separated by blanks; quotes may contain blanks, and a backslash within them escapes the
   * next character. Empty if a quote is not closed.
   */
  public static List<String> of(String line) {
    List<String> words = new ArrayList<>();
    StringBuilder word = new StringBuilder();
    boolean quoted = false;
    boolean begun = false;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (c == '"') {
        quoted = !quoted;
        begun = true;
      } else if (quoted && c == '\\' && i + 1 < line.length()) {
        word.append(line.charAt(++i));
      } else if (!quoted && c == ' ') {
        if (begun) {
          words.add(word.toString());
          word.setLength(0);
          begun = false;
        }
      } else {
        word.append(c);
        begun = true;
      }
    }
    if (begun) {
      words.add(word.toString());
    }
    return quoted ? List.of() : words;
  }

  /** A word in quotes. */
  public static String quoted(String word) {
    StringBuilder text = new StringBuilder(word.length() + 2).append('"');
    for (int i = 0; i < word.length(); i++) {
      char c = word.charAt(i);
      if (c < ' ') {
        throw new IllegalArgumentException("a control character in " + word.replace(c, '?'));
      }
      if (c == '"' || c == '\\') {
        text.append('\\');
      }
      text.append(c);
    }
    return text.append('"').toString();
  }
}
