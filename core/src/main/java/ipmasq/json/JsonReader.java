package ipmasq.json;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.json.JsonToken.TokenKind;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Reads bytes as strict JSON, token by token: no comments, no trailing commas, nothing after the
 * value. A byte order mark is skipped; bytes that are not UTF-8 become U+FFFD.
 */
public final class JsonReader {
  private final byte[] bytes;
  private final int maxDepth;
  private final Deque<JsonToken> open = new ArrayDeque<>();
  private int at;
  private Expect expect = Expect.VALUE;

  // The line being read, and how many of its characters are counted: a big file may be one line.
  private int line = 1;
  private int lineStart;
  private int countedTo;
  private int counted;

  private enum Expect {
    VALUE,
    /** A value, or the end of the array that has just begun. */
    VALUE_OR_END,
    KEY,
    KEY_OR_END,
    COMMA_OR_END,
    NOTHING
  }

  public JsonReader(byte[] bytes, int maxDepth) {
    this.bytes = bytes;
    this.maxDepth = maxDepth;
    lineStart = markLength(bytes);
    at = lineStart;
  }

  private static int markLength(byte[] bytes) {
    boolean marked =
        bytes.length >= 3
            && bytes[0] == (byte) 0xef
            && bytes[1] == (byte) 0xbb
            && bytes[2] == (byte) 0xbf;
    return marked ? 3 : 0;
  }

  /** A byte's place in its file, both from 1, the column in characters. */
  public record Place(int line, int column) {
    @Override
    public String toString() {
      return line + ":" + column;
    }
  }

  public static Place place(byte[] bytes, int at) {
    int line = 1;
    int start = markLength(bytes);
    for (int i = 0; i < at; i++) {
      if (endsLine(bytes, i)) {
        line++;
        start = i + 1;
      }
    }
    return new Place(line, characters(bytes, start, at) + 1);
  }

  private static boolean endsLine(byte[] bytes, int i) {
    return bytes[i] == '\n' || bytes[i] == '\r' && !(i + 1 < bytes.length && bytes[i + 1] == '\n');
  }

  private static int characters(byte[] bytes, int from, int to) {
    int count = 0;
    for (int i = from; i < to; i++) {
      count += (bytes[i] & 0xc0) == 0x80 ? 0 : 1;
    }
    return count;
  }

  /** The next token; {@code END} at the end, and from then on. */
  public JsonToken next() throws MalformedJson {
    space();
    return switch (expect) {
      case NOTHING -> {
        if (at < bytes.length) {
          throw unexpected("the end of the file");
        }
        yield token(TokenKind.END, "", at);
      }
      case VALUE -> value();
      case VALUE_OR_END -> peek() == ']' ? close() : value();
      case KEY -> key();
      case KEY_OR_END -> peek() == '}' ? close() : key();
      case COMMA_OR_END -> commaOrEnd();
    };
  }

  private JsonToken commaOrEnd() throws MalformedJson {
    boolean array = open.element().kind() == TokenKind.ARRAY;
    if (peek() == (array ? ']' : '}')) {
      return close();
    }
    if (peek() != ',') {
      throw unexpected(array ? "a comma or ]" : "a comma or }");
    }
    at++;
    expect = array ? Expect.VALUE : Expect.KEY;
    return next();
  }

  private JsonToken close() {
    TokenKind kind =
        open.pop().kind() == TokenKind.ARRAY ? TokenKind.ARRAY_END : TokenKind.OBJECT_END;
    int from = at++;
    afterValue();
    return token(kind, "", from);
  }

  private void afterValue() {
    expect = open.isEmpty() ? Expect.NOTHING : Expect.COMMA_OR_END;
  }

  private JsonToken key() throws MalformedJson {
    if (peek() != '"') {
      throw unexpected("a key in quotes");
    }
    JsonToken key = string();
    space();
    if (peek() != ':') {
      throw unexpected("a colon");
    }
    at++;
    expect = Expect.VALUE;
    return key;
  }

  private JsonToken value() throws MalformedJson {
    return switch (peek()) {
      case '{' -> enter(TokenKind.OBJECT, Expect.KEY_OR_END);
      case '[' -> enter(TokenKind.ARRAY, Expect.VALUE_OR_END);
      case '"' -> {
        JsonToken string = string();
        afterValue();
        yield string;
      }
      case 't' -> word(TokenKind.BOOLEAN, "true");
      case 'f' -> word(TokenKind.BOOLEAN, "false");
      case 'n' -> word(TokenKind.NULL, "null");
      case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number();
      default -> throw unexpected("a value");
    };
  }

  private JsonToken enter(TokenKind kind, Expect inside) throws MalformedJson {
    if (open.size() == maxDepth) {
      throw new MalformedJson(at, "more than " + maxDepth + " levels of brackets", "nest less");
    }
    int from = at++;
    JsonToken token = token(kind, "", from);
    open.push(token);
    expect = inside;
    return token;
  }

  private JsonToken word(TokenKind kind, String word) throws MalformedJson {
    int from = at;
    for (int i = 0; i < word.length(); i++) {
      if (peek() != word.charAt(i)) {
        throw new MalformedJson(from, "expected a value", "put text in quotes");
      }
      at++;
    }
    afterValue();
    return token(kind, word, from);
  }

  private JsonToken number() throws MalformedJson {
    int from = at;
    taken('-');
    if (!taken('0')) {
      digits();
    }
    if (taken('.')) {
      digits();
    }
    if (taken('e') || taken('E')) {
      if (!taken('+')) {
        taken('-');
      }
      digits();
    }
    afterValue();
    return token(TokenKind.NUMBER, text(from, at), from);
  }

  private void digits() throws MalformedJson {
    int from = at;
    while (peek() >= '0' && peek() <= '9') {
      at++;
    }
    if (at == from) {
      throw unexpected("a digit");
    }
  }

  private boolean taken(char c) {
    boolean there = peek() == c;
    at += there ? 1 : 0;
    return there;
  }

  private JsonToken string() throws MalformedJson {
    int from = at++;
    int plain = at; // start of the current part without escapes
    StringBuilder escaped = null;
    while (peek() != '"') {
      int c = peek();
      if (c < ' ') {
        throw c < 0
            ? new MalformedJson(from, "a string without its closing quote", "close it with \"")
            : new MalformedJson(at, "a control character in a string", "write \\n, \\t or \\u0000");
      }
      if (c == '\\') {
        escaped = escaped == null ? new StringBuilder() : escaped;
        escaped.append(text(plain, at)).append(escape());
        plain = at;
      } else {
        at++;
      }
    }
    String rest = text(plain, at++);
    return token(TokenKind.STRING, escaped == null ? rest : escaped.append(rest).toString(), from);
  }

  private char escape() throws MalformedJson {
    int backslash = at++;
    int c = peek();
    at++;
    return switch (c) {
      case '"', '\\', '/' -> (char) c;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> unit();
      default ->
          throw new MalformedJson(
              backslash, "an unknown escape in a string", "write a backslash as \\\\");
    };
  }

  private char unit() throws MalformedJson {
    int value = 0;
    for (int i = 0; i < 4; i++) {
      int digit = peek() > 'f' ? -1 : Character.digit(peek(), 16);
      if (digit < 0) {
        throw unexpected("four hexadecimal digits");
      }
      value = value << 4 | digit;
      at++;
    }
    return (char) value;
  }

  private void space() {
    for (; at < bytes.length; at++) {
      switch (bytes[at]) {
        case ' ', '\t' -> {}
        case '\n', '\r' -> {
          if (endsLine(bytes, at)) {
            line++;
            lineStart = at + 1;
          }
        }
        default -> {
          return;
        }
      }
    }
  }

  /** The byte to read next; -1 at the end. */
  private int peek() {
    return at < bytes.length ? bytes[at] & 0xff : -1;
  }

  private String text(int from, int to) {
    return new String(bytes, from, to - from, UTF_8);
  }

  /** The text just read, from a byte on. */
  private JsonToken token(TokenKind kind, String text, int from) {
    if (countedTo < lineStart) {
      countedTo = lineStart;
      counted = 0;
    }
    counted += characters(bytes, countedTo, from);
    countedTo = from;
    return new JsonToken(kind, text, from, at, line, counted + 1);
  }

  private MalformedJson unexpected(String wanted) {
    int where = Math.min(at, bytes.length);
    String what = "expected " + wanted + ", found " + found(where);
    return new MalformedJson(where, what, hint(where, wanted));
  }

  private String found(int where) {
    if (where == bytes.length) {
      return "the end of the file";
    }
    int end = where + 1;
    while (end < bytes.length && (bytes[end] & 0xc0) == 0x80) {
      end++;
    }
    String character = text(where, end);
    boolean shown = character.codePoints().noneMatch(Character::isISOControl);
    return shown ? "'" + character + "'" : "byte " + (bytes[where] & 0xff);
  }

  private String hint(int where, String wanted) {
    if (where == bytes.length) {
      return open.isEmpty() ? "" : opened() + " is not closed";
    }
    boolean inArray = !open.isEmpty() && open.element().kind() == TokenKind.ARRAY;
    if (inArray && wanted.startsWith("a comma") && (bytes[where] == ':' || bytes[where] == '}')) {
      return opened() + " is not closed before it";
    }
    return switch (bytes[where]) {
      case '/', '#' -> "JSON has no comments: remove it";
      case '\'' -> "write double quotes";
      case ']', '}' -> expect == Expect.VALUE || expect == Expect.KEY ? "a comma too many?" : "";
      case '"' -> wanted.startsWith("a comma") ? "a comma is missing before it" : "";
      default -> wanted.equals("a value") ? "put text in quotes" : "";
    };
  }

  private String opened() {
    JsonToken innermost = open.element();
    return "the "
        + (innermost.kind() == TokenKind.ARRAY ? "[" : "{")
        + " at "
        + innermost.line()
        + ":"
        + innermost.column();
  }
}
