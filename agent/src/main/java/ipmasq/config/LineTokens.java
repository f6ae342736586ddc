package ipmasq.config;

import ipmasq.config.Token.Kind;

/**
 * The YAML that nearly every config is written in, where each line stands for itself:
 *
 * <pre>
 *   nonMasqueradeCIDRs:
 *     - 10.0.0.0/8        # plain, or
 *     - "fd00::/8"        # in quotes, with nothing escaped
 *   resyncInterval: 60s
 * </pre>
 *
 * <p>It is read without the YAML engine, for which a node would pay at every start, and a hundred
 * thousand ranges with most of the time that they take. A text with anything else in it is none of
 * these, and the engine reads all of it. Where this one reads, it says what the engine would say.
 */
final class LineTokens implements Tokens {
  private static final int LONGEST_KEY = 100; // the engine draws a line, too, at ten times that

  /** What a line is. */
  private enum Line {
    KEY,
    ITEM,
    /** None of ours. */
    OTHER,
    /** Past the last one. */
    END
  }

  private enum Expect {
    MAP,
    KEY,
    VALUE,
    ITEM,
    NOTHING
  }

  private final String text;
  private Expect expect = Expect.MAP;

  private Line kind = Line.OTHER;
  private int number;
  private int start;
  private int next;
  private int indent;
  private int keyEnd;
  private int valueStart;
  private int valueEnd;
  private boolean quoted;

  LineTokens(String text) {
    this.text = text;
  }

  /** Whether a text is one of these. */
  static boolean read(String text) {
    LineTokens lines = new LineTokens(text);
    lines.advance();
    boolean fits = lines.kind == Line.KEY;
    int list = -1;
    boolean mayBegin = false;
    while (fits && lines.kind != Line.END) {
      if (lines.kind == Line.ITEM) {
        list = mayBegin ? lines.indent : list;
        fits = lines.indent == list; // else it may go on with the scalar above
        mayBegin = false;
      } else {
        fits = lines.kind == Line.KEY;
        list = -1;
        mayBegin = !lines.hasValue();
      }
      lines.advance();
    }
    return fits;
  }

  @Override
  public Token next() throws SyntaxError {
    return switch (expect) {
      case MAP -> {
        advance();
        expect = Expect.KEY;
        yield mark(Kind.MAP);
      }
      case KEY -> kind == Line.END ? closed(Kind.MAP_END, Expect.NOTHING) : key();
      case VALUE -> hasValue() ? value(Expect.KEY) : list();
      case ITEM -> kind == Line.ITEM ? value(Expect.ITEM) : closed(Kind.LIST_END, Expect.KEY);
      case NOTHING -> mark(Kind.END);
    };
  }

  private Token key() throws SyntaxError {
    expect = Expect.VALUE;
    return YamlScalar.untagged(text.substring(start, keyEnd), false, number, 1);
  }

  private Token value(Expect then) throws SyntaxError {
    Token token =
        YamlScalar.untagged(
            text.substring(valueStart, valueEnd),
            quoted,
            number,
            valueStart - start + (quoted ? 0 : 1));
    advance();
    expect = then;
    return token;
  }

  /** The list below a key; or nothing, which stands right after the colon. */
  private Token list() throws SyntaxError {
    int line = number;
    int column = keyEnd - start + 2;
    advance();
    expect = kind == Line.ITEM ? Expect.ITEM : Expect.KEY;
    return kind == Line.ITEM ? mark(Kind.LIST) : YamlScalar.untagged("", false, line, column);
  }

  private Token closed(Kind end, Expect then) {
    expect = then;
    return mark(end);
  }

  private Token mark(Kind what) {
    return Token.mark(what, number, indent + 1);
  }

  private boolean hasValue() {
    return valueStart > 0;
  }

  /** Goes on to the next line with something on it. */
  private void advance() {
    do {
      if (next > text.length()) {
        kind = Line.END;
        indent = text.length() - start;
        return;
      }
      int end = text.indexOf('\n', next);
      start = next;
      next = (end < 0 ? text.length() : end) + 1;
      number++;
    } while (isBlank());
    kind = line(next - 1);
  }

  /** Whether a line has nothing on it, or a comment. Also finds its indentation. */
  private boolean isBlank() {
    int end = next - 1;
    int at = spaces(start, end);
    indent = at - start;
    return at == end || text.charAt(at) == '#' && isComment(at, end);
  }

  private Line line(int end) {
    int at = start + indent;
    valueStart = 0;
    if (text.charAt(at) == '-') {
      return at + 1 < end && value(at + 1, end) && hasValue() ? Line.ITEM : Line.OTHER;
    }
    keyEnd = at;
    while (keyEnd < end && isLetterOrDigit(text.charAt(keyEnd))) {
      keyEnd++;
    }
    boolean key =
        indent == 0
            && keyEnd > start
            && keyEnd - start < LONGEST_KEY
            && keyEnd < end
            && text.charAt(keyEnd) == ':';
    return key && value(keyEnd + 1, end) ? Line.KEY : Line.OTHER;
  }

  /** Finds a value after a dash or colon; whether what stands there is one, or nothing. */
  private boolean value(int from, int end) {
    int at = spaces(from, end);
    if (rest(from, end)) {
      return true;
    }
    char first = text.charAt(at);
    quoted = first == '"' || first == '\'';
    valueStart = quoted ? at + 1 : at;
    valueEnd = quoted ? quoteEnd(first, end) : plainEnd(end);
    return at > from && valueEnd > 0 && rest(quoted ? valueEnd + 1 : valueEnd, end);
  }

  /** Whether nothing follows but space, and after space perhaps a comment. */
  private boolean rest(int from, int end) {
    int at = spaces(from, end);
    return at == end || at > from && text.charAt(at) == '#' && isComment(at, end);
  }

  private int quoteEnd(char quote, int end) {
    for (int at = valueStart; at < end; at++) {
      char c = text.charAt(at);
      if (c == quote) {
        return at;
      }
      if (c == '\\' || !isAscii(c)) {
        return 0;
      }
    }
    return 0;
  }

  /** A word of the characters that numbers, addresses and durations are made of. */
  private int plainEnd(int end) {
    int at = valueStart;
    while (at < end && isWord(text.charAt(at))) {
      at++;
    }
    boolean word =
        at > valueStart
            && isLetterOrDigit(text.charAt(valueStart))
            && text.charAt(at - 1) != ':'; // that would make it a key
    return word ? at : 0;
  }

  private static boolean isWord(char c) {
    return isLetterOrDigit(c) || c >= '-' && c <= '/' || c == ':' || c == '_' || c == '+';
  }

  private static boolean isLetterOrDigit(char c) {
    return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
  }

  private int spaces(int from, int end) {
    int at = from;
    while (at < end && text.charAt(at) == ' ') {
      at++;
    }
    return at;
  }

  /** Characters with a width or meaning of their own are the engine's business. */
  private boolean isComment(int from, int end) {
    int at = from;
    while (at < end && isAscii(text.charAt(at))) {
      at++;
    }
    return at == end;
  }

  private static boolean isAscii(char c) {
    return c >= ' ' && c < 0x7f;
  }
}
