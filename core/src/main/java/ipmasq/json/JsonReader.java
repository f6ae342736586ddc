package ipmasq.json;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.json.JsonValue.Arr;
import ipmasq.json.JsonValue.Member;
import ipmasq.json.JsonValue.Obj;
import ipmasq.json.JsonValue.Str;
import ipmasq.json.JsonValue.Word;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads bytes as strict JSON: no comments, no trailing commas, nothing after the value. A byte
 * order mark is skipped; bytes that are not UTF-8 become U+FFFD.
 */
public final class JsonReader {
  /** Enough for any real file, and safe for the stack. */
  private static final int MAX_DEPTH = 100;

  private static final Pattern WORD =
      Pattern.compile("-?(0|[1-9]\\d*+)(\\.\\d++)?([eE][+-]?\\d++)?|true|false|null");

  private final byte[] bytes;
  private int at;
  private int depth;
  private final Matcher words;

  private JsonReader(byte[] bytes) {
    this.bytes = bytes;
    words = WORD.matcher(new String(bytes, ISO_8859_1));
    at = markLength(bytes);
  }

  static JsonValue read(byte[] bytes) throws MalformedJson {
    JsonReader reader = new JsonReader(bytes);
    JsonValue value = reader.value();
    if (reader.peek() >= 0) {
      throw reader.unexpected("the end of the file");
    }
    return value;
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
    int column = 1;
    for (int i = markLength(bytes); i < at; i++) {
      boolean end =
          bytes[i] == '\n' || bytes[i] == '\r' && !(i + 1 < bytes.length && bytes[i + 1] == '\n');
      boolean continued = (bytes[i] & 0xc0) == 0x80;
      line += end ? 1 : 0;
      column = end ? 1 : continued ? column : column + 1;
    }
    return new Place(line, column);
  }

  private JsonValue value() throws MalformedJson {
    int c = peekToken();
    JsonValue value =
        switch (c) {
          case '{' -> object();
          case '[' -> array();
          case '"' -> string();
          default -> word();
        };
    space();
    return value;
  }

  private Obj object() throws MalformedJson {
    int from = enter();
    List<Member> members = new ArrayList<>();
    while (more('}', members.isEmpty())) {
      if (peekToken() != '"') {
        throw unexpected("a key in quotes");
      }
      Str key = string();
      if (peekToken() != ':') {
        throw unexpected("a colon");
      }
      at++;
      members.add(new Member(key, value()));
    }
    return new Obj(from, at, members);
  }

  private Arr array() throws MalformedJson {
    int from = enter();
    List<JsonValue> items = new ArrayList<>();
    while (more(']', items.isEmpty())) {
      items.add(value());
    }
    return new Arr(from, at, items);
  }

  private int enter() throws MalformedJson {
    if (++depth > MAX_DEPTH) {
      throw new MalformedJson(at, "more than " + MAX_DEPTH + " levels of brackets");
    }
    return at++;
  }

  /** Whether another element follows; takes the comma before it, or the closing bracket. */
  private boolean more(char closing, boolean first) throws MalformedJson {
    int c = peekToken();
    if (c == closing) {
      at++;
      depth--;
      return false;
    }
    if (!first) {
      if (c != ',') {
        throw unexpected("a comma or " + closing);
      }
      at++;
    }
    return true;
  }

  private Word word() throws MalformedJson {
    Matcher word = words.region(at, bytes.length);
    if (!word.lookingAt()) {
      throw unexpected("a value");
    }
    at = word.end();
    return new Word(word.start(), at, word.group());
  }

  private Str string() throws MalformedJson {
    int from = at++;
    int plain = at; // start of the current part without escapes
    StringBuilder text = new StringBuilder();
    while (peek() != '"') {
      if (peek() < ' ') {
        throw peek() < 0
            ? new MalformedJson(from, "a string without its closing quote")
            : new MalformedJson(at, "a control character in a string");
      }
      if (peek() == '\\') {
        text.append(text(plain, at)).append(escape());
        plain = at;
      } else {
        at++;
      }
    }
    text.append(text(plain, at++));
    return new Str(from, at, text.toString());
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
      default -> throw new MalformedJson(backslash, "an unknown escape in a string");
    };
  }

  private char unit() throws MalformedJson {
    int value = 0;
    for (int i = 0; i < 4; i++, at++) {
      int digit = peek() > 'f' ? -1 : Character.digit(peek(), 16);
      if (digit < 0) {
        throw unexpected("four hexadecimal digits");
      }
      value = value << 4 | digit;
    }
    return (char) value;
  }

  private int peekToken() {
    space();
    return peek();
  }

  private void space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') {
      at++;
    }
  }

  /** The byte to read next; -1 at the end. */
  private int peek() {
    return at < bytes.length ? bytes[at] & 0xff : -1;
  }

  private String text(int from, int to) {
    return new String(bytes, from, to - from, UTF_8);
  }

  private MalformedJson unexpected(String wanted) {
    int where = Math.min(at, bytes.length);
    return new MalformedJson(where, "expected " + wanted + ", found " + found(where));
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
}
