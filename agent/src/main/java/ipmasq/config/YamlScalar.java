package ipmasq.config;

import ipmasq.config.Token.TokenKind;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * What a YAML scalar means: the rules of YAML 1.1 as the Go agents apply them ({@code yes} is true,
 * {@code 0100} is 64, {@code 1:30} is text), with the result as JSON would write it.
 */
final class YamlScalar {
  private static final String CORE = "tag:yaml.org,2002:";

  private YamlScalar() {}

  /**
   * The scalar as a token.
   *
   * @param tag the tag in the file, written out; empty if there is none
   * @param quoted whether the file says by quotes or block style that it is text
   */
  static Token token(String value, String tag, boolean quoted, int line, int column)
      throws SyntaxError {
    boolean own = !tag.startsWith(CORE) && !tag.isEmpty() && !tag.equals("!");
    String type = own ? "str" : tag.startsWith(CORE) ? tag.substring(CORE.length()) : tag;
    return switch (type) {
      case "" -> quoted ? text(value, line, column) : plain(value, line, column);
      // The lone "!" undoes the quotes.
      case "!" -> plain(value, line, column);
      case "bool" -> typed(TokenKind.BOOLEAN, plain(value, line, column), type);
      case "null" -> typed(TokenKind.NULL, plain(value, line, column), type);
      case "float" -> typed(TokenKind.NUMBER, plain(value, line, column), type);
      case "int" -> integer(plain(value, line, column), type);
      case "merge" -> typed(TokenKind.MERGE, plain(value, line, column), type);
      case "binary" -> binary(value, line, column);
      // !!str, !!timestamp, and tags that nobody knows.
      default -> text(value, line, column);
    };
  }

  private static Token text(String value, int line, int column) {
    return new Token(TokenKind.TEXT, value, value, line, column);
  }

  private static Token typed(TokenKind kind, Token token, String type) throws SyntaxError {
    if (token.kind() != kind) {
      throw new SyntaxError(
          token.line(),
          token.column(),
          "the tag !!" + type + " does not fit " + Phrases.quoted(token.written()),
          "remove the tag");
    }
    return token;
  }

  private static Token integer(Token token, String type) throws SyntaxError {
    boolean whole =
        token.kind() == TokenKind.NUMBER && !whole(token.written().replace("_", "")).isEmpty();
    return typed(whole ? TokenKind.NUMBER : TokenKind.END, token, type);
  }

  private static Token binary(String value, int line, int column) throws SyntaxError {
    try {
      byte[] bytes = Base64.getDecoder().decode(withoutBreaks(value));
      return text(new String(bytes, StandardCharsets.UTF_8), line, column);
    } catch (IllegalArgumentException _) {
      throw new SyntaxError(line, column, "the !!binary value is not base64", "remove the tag");
    }
  }

  private static String withoutBreaks(String value) {
    return value.replace("\n", "").replace("\r", "");
  }

  private static Token plain(String value, int line, int column) throws SyntaxError {
    if (value.indexOf('/') >= 0) {
      return text(value, line, column); // as ranges are; no number and none of the words has one
    }
    TokenKind word = word(value);
    return switch (word) {
      case NULL -> new Token(TokenKind.NULL, "", value, line, column);
      case MERGE -> new Token(TokenKind.MERGE, value, value, line, column);
      case BOOLEAN ->
          new Token(TokenKind.BOOLEAN, isTrue(value) ? "true" : "false", value, line, column);
      case NUMBER ->
          throw new SyntaxError(
              line,
              column,
              Phrases.quoted(value) + " is not a finite number",
              "put text in quotes");
      case TEXT, LIST, LIST_END, MAP, MAP_END, END -> {
        String number = number(value);
        yield number.isEmpty()
            ? text(value, line, column)
            : new Token(TokenKind.NUMBER, number, value, line, column);
      }
    };
  }

  /** The words with a meaning of their own. */
  private static TokenKind word(String value) {
    return switch (value) {
      case "", "~", "null", "Null", "NULL" -> TokenKind.NULL;
      case "<<" -> TokenKind.MERGE;
      case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON" ->
          TokenKind.BOOLEAN;
      case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF" ->
          TokenKind.BOOLEAN;
      case ".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF" -> TokenKind.NUMBER;
      case "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF" -> TokenKind.NUMBER;
      default -> TokenKind.TEXT;
    };
  }

  private static boolean isTrue(String value) {
    char first = value.charAt(0);
    return first == 'y'
        || first == 'Y'
        || first == 't'
        || first == 'T'
        || value.length() == 2 && (value.charAt(1) == 'n' || value.charAt(1) == 'N');
  }

  /** The number as JSON writes it; empty if the text is none. */
  private static String number(String value) {
    char first = value.charAt(0);
    boolean candidate = first == '+' || first == '-' || first == '.' || isDigit(first);
    if (!candidate || value.length() > 400) {
      return "";
    }
    // 1_000 is 1000; but a number that starts with its point takes no underscores.
    String digits = first == '.' ? value : value.replace("_", "");
    String whole = whole(digits);
    if (!whole.isEmpty() || !isDecimalFraction(digits)) {
      return whole;
    }
    double number = Double.parseDouble(digits);
    if (Double.isInfinite(number)) {
      return "";
    }
    boolean exact = number == Math.rint(number) && Math.abs(number) < 0x1p63;
    return exact ? Long.toString((long) number) : Double.toString(number);
  }

  /** Digits with a sign and a base: {@code 0x40}, {@code 0b11}, {@code 0o100}, {@code 0100}. */
  private static String whole(String text) {
    int at = text.charAt(0) == '+' || text.charAt(0) == '-' ? 1 : 0;
    int base = 10;
    if (text.length() > at + 1 && text.charAt(at) == '0') {
      base =
          switch (text.charAt(at + 1)) {
            case 'x', 'X' -> 16;
            case 'b', 'B' -> 2;
            default -> 8;
          };
      boolean letter = !isDigit(text.charAt(at + 1));
      if (letter && base == 8 && text.charAt(at + 1) != 'o' && text.charAt(at + 1) != 'O') {
        return "";
      }
      at += letter ? 2 : 1;
    }
    if (at == text.length()) {
      return "";
    }
    for (int i = at; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c > 'f' || Character.digit(c, base) < 0) {
        return "";
      }
    }
    BigInteger value = new BigInteger(text.substring(at), base);
    return (text.charAt(0) == '-' ? value.negate() : value).toString();
  }

  /**
   * {@code 64.0}, {@code .5}, {@code 1e3}; also plain digits, which get here only as {@code 08}.
   */
  private static boolean isDecimalFraction(String text) {
    int at = text.charAt(0) == '+' || text.charAt(0) == '-' ? 1 : 0;
    int wholeEnd = afterDigits(text, at);
    int end = wholeEnd;
    if (end < text.length() && text.charAt(end) == '.') {
      end = afterDigits(text, end + 1);
    }
    if (wholeEnd == at && end <= at + 1) {
      return false;
    }
    if (end < text.length() && (text.charAt(end) == 'e' || text.charAt(end) == 'E')) {
      int exponent = end + 1;
      if (exponent < text.length()
          && (text.charAt(exponent) == '+' || text.charAt(exponent) == '-')) {
        exponent++;
      }
      end = afterDigits(text, exponent);
      if (end == exponent) {
        return false;
      }
    }
    return end == text.length();
  }

  private static int afterDigits(String text, int from) {
    int at = from;
    while (at < text.length() && isDigit(text.charAt(at))) {
      at++;
    }
    return at;
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
