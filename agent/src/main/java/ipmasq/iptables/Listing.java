package ipmasq.iptables;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * What iptables-save and {@code iptables -S} print: one rule per line, but a word in quotes, such
 * as another program's comment, may contain line ends. A backslash in quotes escapes a quote or a
 * backslash. Reads a stream of bytes, holding one line at a time and truncating absurdly long ones.
 */
public final class Listing {
  /** No iptables program writes longer lines. */
  private static final int LONGEST = 1 << 20;

  private final Consumer<String> lines;
  private byte[] partial = new byte[256];
  private int length;
  private boolean quoted;
  private boolean escaped;
  private byte previous;

  public Listing(Consumer<String> lines) {
    this.lines = lines;
  }

  /** Takes the next bytes. */
  public void accept(byte[] read, int count) {
    int from = 0;
    for (int i = 0; i < count; i++) {
      byte b = read[i];
      if (quoted) {
        quoted = escaped || b != '"';
        escaped = !escaped && b == '\\';
      } else if (b == '\n') {
        append(read, from, i);
        flush();
        from = i + 1;
      } else {
        quoted = b == '"' && previous == ' ';
      }
      previous = b;
    }
    append(read, from, count);
  }

  /** The last line, if it had no line end. */
  public void end() {
    if (length > 0) {
      flush();
    }
  }

  private void append(byte[] read, int from, int to) {
    int more = Math.min(to - from, LONGEST - length);
    if (length + more > partial.length) {
      partial = Arrays.copyOf(partial, Math.max(length + more, partial.length * 2));
    }
    System.arraycopy(read, from, partial, length, more);
    length += more;
  }

  private void flush() {
    lines.accept(new String(partial, 0, length, StandardCharsets.UTF_8));
    length = 0;
  }

  /** The words of a line, without their quotes; empty if a quote is not closed. */
  public static List<String> words(String line) {
    List<String> words = new ArrayList<>();
    StringBuilder word = new StringBuilder();
    boolean quoted = false;
    boolean begun = false;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (quoted && c == '\\' && i + 1 < line.length()) {
        word.append(line.charAt(++i));
      } else if (c == '"' && (quoted || !begun)) {
        quoted = !quoted;
        begun = true;
      } else if (!quoted && c == ' ') {
        if (begun) {
          words.add(word.toString());
        }
        word.setLength(0);
        begun = false;
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

  /** A word in quotes, as iptables-restore reads it: it cannot contain a line end. */
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
