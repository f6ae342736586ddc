package ipmasq.config;

import ipmasq.config.Token.Kind;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A strict JSON text. Most JSON is YAML too, but not all: a key and its colon on two lines, keys of
 * more than 1,024 characters, tabs, surrogate pairs. A file that begins with a brace is therefore
 * read by this first.
 */
final class JsonTokens implements Tokens {
  private final String text;
  private final Deque<Kind> nested = new ArrayDeque<>();
  private int at;
  private int line = 1;
  private int lineStart;
  private int countedTo;
  private int counted;
  private Expect expect = Expect.VALUE;

  private enum Expect {
    VALUE,
    /** A value, or the end of the list that has just begun. */
    VALUE_OR_END,
    KEY,
    KEY_OR_END,
    COMMA_OR_END,
    NOTHING
  }

  JsonTokens(String text) {
    this.text = text;
  }

  @Override
  public Token next() throws SyntaxError {
    space();
    return switch (expect) {
      case NOTHING -> {
        if (at < text.length()) {
          throw unexpected("after the end");
        }
        yield mark(Kind.END);
      }
      case VALUE -> value();
      case VALUE_OR_END -> peek() == ']' ? close() : value();
      case KEY -> key();
      case KEY_OR_END -> peek() == '}' ? close() : key();
      case COMMA_OR_END -> commaOrEnd();
    };
  }

  private Token commaOrEnd() throws SyntaxError {
    boolean list = nested.element() == Kind.LIST;
    if (peek() == (list ? ']' : '}')) {
      return close();
    }
    if (peek() != ',') {
      throw unexpected(list ? "in a list" : "after a value");
    }
    at++;
    expect = list ? Expect.VALUE : Expect.KEY;
    return next();
  }

  private Token close() {
    Token token = mark(nested.pop() == Kind.LIST ? Kind.LIST_END : Kind.MAP_END);
    at++;
    afterValue();
    return token;
  }

  private void afterValue() {
    expect = nested.isEmpty() ? Expect.NOTHING : Expect.COMMA_OR_END;
  }

  private Token key() throws SyntaxError {
    if (peek() != '"') {
      throw unexpected("where a key in quotes belongs");
    }
    Token key = string();
    space();
    if (peek() != ':') {
      throw unexpected("where the colon after a key belongs");
    }
    at++;
    expect = Expect.VALUE;
    return key;
  }

  private Token value() throws SyntaxError {
    return switch (peek()) {
      case '{' -> open(Kind.MAP, Expect.KEY_OR_END);
      case '[' -> open(Kind.LIST, Expect.VALUE_OR_END);
      case '"' -> {
        Token token = string();
        afterValue();
        yield token;
      }
      case 't' -> literal(Kind.BOOLEAN, "true");
      case 'f' -> literal(Kind.BOOLEAN, "false");
      case 'n' -> literal(Kind.NULL, "null");
      default -> number();
    };
  }

  private Token open(Kind kind, Expect inside) throws SyntaxError {
    Token token = mark(kind);
    at++;
    nested.push(kind);
    if (nested.size() > YamlTokens.MAX_DEPTH) {
      throw error("exceeded max depth of " + YamlTokens.MAX_DEPTH, "nest less");
    }
    expect = inside;
    return token;
  }

  private Token literal(Kind kind, String word) throws SyntaxError {
    if (!text.startsWith(word, at)) {
      throw unexpected("where a value belongs");
    }
    Token token = token(kind, word);
    at += word.length();
    afterValue();
    return token;
  }

  private Token number() throws SyntaxError {
    int start = at;
    if (peek() == '-') {
      at++;
    }
    int whole = at;
    int digits = digits();
    if (digits == 0 || digits > 1 && text.charAt(whole) == '0') {
      at = digits == 0 ? start : whole + 1;
      throw unexpected("where a value belongs");
    }
    if (peek() == '.') {
      at++;
      if (digits() == 0) {
        throw unexpected("in a number");
      }
    }
    if (peek() == 'e' || peek() == 'E') {
      at++;
      if (peek() == '+' || peek() == '-') {
        at++;
      }
      if (digits() == 0) {
        throw unexpected("in a number");
      }
    }
    int end = at;
    at = start;
    Token token = token(Kind.NUMBER, text.substring(start, end));
    at = end;
    afterValue();
    return token;
  }

  private int digits() {
    int start = at;
    while (peek() >= '0' && peek() <= '9') {
      at++;
    }
    return at - start;
  }

  private Token string() throws SyntaxError {
    int start = at++;
    int plainEnd = at;
    while (plainEnd < text.length()
        && text.charAt(plainEnd) >= ' '
        && text.charAt(plainEnd) != '"'
        && text.charAt(plainEnd) != '\\') {
      plainEnd++;
    }
    String value = text.substring(at, plainEnd);
    at = plainEnd;
    if (peek() != '"') {
      StringBuilder rest = new StringBuilder(value);
      while (peek() != '"') {
        rest.append(character());
      }
      value = rest.toString();
    }
    int end = at + 1;
    at = start;
    Token token = token(Kind.TEXT, value);
    at = end;
    return token;
  }

  private char character() throws SyntaxError {
    char c = peek();
    if (c < ' ') {
      throw unexpected("in a text");
    }
    at++;
    if (c != '\\') {
      return c;
    }
    char escaped = peek();
    at++;
    return switch (escaped) {
      case '"', '\\', '/' -> escaped;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> hex();
      default -> {
        at--;
        throw unexpected("after a backslash");
      }
    };
  }

  private char hex() throws SyntaxError {
    int value = 0;
    for (int i = 0; i < 4; i++) {
      int digit = peek() > 'f' ? -1 : Character.digit(peek(), 16);
      if (digit < 0) {
        throw unexpected("after \\u");
      }
      value = value << 4 | digit;
      at++;
    }
    return (char) value;
  }

  private void space() {
    for (; at < text.length(); at++) {
      switch (text.charAt(at)) {
        case ' ', '\t', '\r' -> {}
        case '\n' -> {
          line++;
          lineStart = at + 1;
        }
        default -> {
          return;
        }
      }
    }
  }

  /** The character to read next; NUL at the end, which is no part of JSON either. */
  private char peek() {
    return at < text.length() ? text.charAt(at) : 0;
  }

  private Token mark(Kind kind) {
    return Token.mark(kind, line, column());
  }

  private Token token(Kind kind, String value) {
    return new Token(kind, value, value, line, column());
  }

  /** Counted on from the last time: all of a big file may be one line. */
  private int column() {
    if (countedTo < lineStart || countedTo > at) {
      countedTo = lineStart;
      counted = 0;
    }
    counted += text.codePointCount(countedTo, at);
    countedTo = at;
    return counted + 1;
  }

  private SyntaxError unexpected(String where) {
    return at >= text.length()
        ? error("not JSON: unexpected end", "a bracket, a brace or a quote is not closed")
        : error("not JSON: unexpected " + Words.quoted(codePoint()) + " " + where, "");
  }

  private String codePoint() {
    return Character.toString(text.codePointAt(at));
  }

  private SyntaxError error(String message, String hint) {
    return new SyntaxError(line, column(), message, hint);
  }
}
