package ipmasq.backend.cni;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.backend.cni.Json.Malformed;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/** Reads bytes as strict JSON: no comments, no trailing commas, nothing after the value. */
final class JsonScanner {
  private static final int DEEPEST = 100;
  private final byte[] bytes;
  private int at;
  private int depth;

  private JsonScanner(byte[] bytes) {
    this.bytes = bytes;
  }

  static Json read(byte[] bytes) throws Malformed {
    JsonScanner scanner = new JsonScanner(bytes);
    scanner.byteOrderMark();
    scanner.space();
    Json value = scanner.value();
    scanner.space();
    if (scanner.at < bytes.length) {
      throw scanner.unexpected("the end of the file");
    }
    return value;
  }

  /** What some editors put before the text. PowerShell's redirection writes UTF-16. */
  private void byteOrderMark() throws Malformed {
    if (bytes.length >= 2
        && (peek(0) == 0xff && peek(1) == 0xfe || peek(0) == 0xfe && peek(1) == 0xff)) {
      throw new Malformed(0, "the file is UTF-16, but CNI plugins read UTF-8");
    }
    if (bytes.length >= 3 && peek(0) == 0xef && peek(1) == 0xbb && peek(2) == 0xbf) {
      at = 3;
    }
  }

  private int peek(int index) {
    return index < bytes.length ? bytes[index] & 0xff : -1;
  }

  private void space() {
    while (at < bytes.length
        && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\r' || bytes[at] == '\t')) {
      at++;
    }
  }

  private Json value() throws Malformed {
    return switch (peek(at)) {
      case '{' -> object();
      case '[' -> array();
      case '"' -> string();
      case 't' -> word("true");
      case 'f' -> word("false");
      case 'n' -> word("null");
      case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number();
      default -> throw unexpected("a value");
    };
  }

  private Json object() throws Malformed {
    int from = enter();
    List<Json.Member> members = new ArrayList<>();
    if (peek(at) != '}') {
      do {
        space();
        if (peek(at) != '"') {
          throw unexpected("a key in quotes");
        }
        Json.Str key = string();
        space();
        take(':', "a colon");
        space();
        members.add(new Json.Member(key, value()));
        space();
      } while (taken(','));
    }
    leave('}', members.isEmpty() ? "a key or }" : "a comma or }");
    return new Json.Obj(from, at, members);
  }

  private Json array() throws Malformed {
    int from = enter();
    List<Json> items = new ArrayList<>();
    if (peek(at) != ']') {
      do {
        space();
        items.add(value());
        space();
      } while (taken(','));
    }
    leave(']', items.isEmpty() ? "a value or ]" : "a comma or ]");
    return new Json.Arr(from, at, items);
  }

  private int enter() throws Malformed {
    if (++depth > DEEPEST) {
      throw new Malformed(at, "more than " + DEEPEST + " levels of brackets");
    }
    int from = at++;
    space();
    return from;
  }

  private void leave(char bracket, String wanted) throws Malformed {
    take(bracket, wanted);
    depth--;
  }

  private Json.Str string() throws Malformed {
    int from = at++;
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    int plain = at; // where the part without escapes that is being read begins
    while (peek(at) != '"') {
      int c = peek(at);
      if (c < 0x20) {
        throw c < 0
            ? new Malformed(from, "a string without its closing quote")
            : new Malformed(at, "a control character in a string");
      }
      if (c == '\\') {
        text.write(bytes, plain, at - plain);
        text.writeBytes(escaped().getBytes(UTF_8));
        plain = at;
      } else {
        at++;
      }
    }
    text.write(bytes, plain, at - plain);
    at++;
    return new Json.Str(from, at, text.toString(UTF_8));
  }

  /** One escape; two where they are the halves of a pair. */
  private String escaped() throws Malformed {
    at += 2;
    return switch (peek(at - 1)) {
      case '"' -> "\"";
      case '\\' -> "\\";
      case '/' -> "/";
      case 'b' -> "\b";
      case 'f' -> "\f";
      case 'n' -> "\n";
      case 'r' -> "\r";
      case 't' -> "\t";
      case 'u' -> {
        char first = unit();
        if (Character.isHighSurrogate(first) && peek(at) == '\\' && peek(at + 1) == 'u') {
          at += 2;
          yield "" + first + unit();
        }
        yield "" + first;
      }
      default -> throw new Malformed(at - 2, "an unknown escape in a string");
    };
  }

  private char unit() throws Malformed {
    int value = 0;
    for (int i = 0; i < 4; i++) {
      int c = peek(at);
      int digit = c > 'f' ? -1 : Character.digit(c, 16);
      if (digit < 0) {
        throw unexpected("four hexadecimal digits");
      }
      value = value << 4 | digit;
      at++;
    }
    return (char) value;
  }

  private Json word(String word) throws Malformed {
    int from = at;
    for (int i = 0; i < word.length(); i++) {
      if (peek(at++) != word.charAt(i)) {
        throw new Malformed(from, "expected a value");
      }
    }
    return new Json.Word(from, at, word);
  }

  private Json number() throws Malformed {
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
    return new Json.Word(from, at, new String(bytes, from, at - from, UTF_8));
  }

  private void digits() throws Malformed {
    int from = at;
    while (peek(at) >= '0' && peek(at) <= '9') {
      at++;
    }
    if (at == from) {
      throw unexpected("a digit");
    }
  }

  private boolean taken(char c) {
    boolean there = peek(at) == c;
    at += there ? 1 : 0;
    return there;
  }

  private void take(char c, String wanted) throws Malformed {
    if (!taken(c)) {
      throw unexpected(wanted);
    }
  }

  private Malformed unexpected(String wanted) {
    int c = peek(at);
    String found =
        c < 0 ? "the end of the file" : c > 0x20 && c < 0x7f ? "'" + (char) c + "'" : "byte " + c;
    return new Malformed(Math.min(at, bytes.length), "expected " + wanted + ", found " + found);
  }
}
