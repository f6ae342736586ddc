package ipmasq.net;

import java.util.Locale;

/**
 * Text that others wrote, such as a rule's comment or a program's error message, escaped when it is
 * made: it is printable and one line, so that no terminal, log, JSON or page takes it for more than
 * text.
 */
public record ForeignText(String text) implements Comparable<ForeignText> {
  private static final int LONGEST = 300;

  public ForeignText {
    text = escaped(text);
  }

  /** At most 300 characters of it. */
  public static ForeignText shortened(String text) {
    return new ForeignText(text.length() > LONGEST ? text.substring(0, LONGEST) + "…" : text);
  }

  private static String escaped(String text) {
    if (text.codePoints().allMatch(ForeignText::isPlain)) {
      return text;
    }
    StringBuilder plain = new StringBuilder(text.length() + 16);
    text.codePoints()
        .forEach(
            point -> {
              if (isPlain(point)) {
                plain.appendCodePoint(point);
              } else {
                plain.append(String.format(Locale.ROOT, "\\u%04x", point));
              }
            });
    return plain.toString();
  }

  /** Controls, line ends, characters that change the direction of text, and halves of others. */
  private static boolean isPlain(int point) {
    return switch (Character.getType(point)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE,
          Character.UNASSIGNED ->
          false;
      default -> true;
    };
  }

  @Override
  public int compareTo(ForeignText other) {
    return text.compareTo(other.text);
  }

  @Override
  public String toString() {
    return text;
  }
}
