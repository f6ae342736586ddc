package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ipmasq.config.Token.TokenKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class YamlScalarTest {
  private static Token plain(String value) throws SyntaxError {
    return YamlScalar.token(value, "", false, 1, 1);
  }

  private static Token tagged(String tag, String value) throws SyntaxError {
    return YamlScalar.token(value, "tag:yaml.org,2002:" + tag, true, 1, 1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
  void trueWords(String word) throws SyntaxError {
    assertEquals(new Token(TokenKind.BOOLEAN, "true", word, 1, 1), plain(word));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
  void falseWords(String word) throws SyntaxError {
    assertEquals(new Token(TokenKind.BOOLEAN, "false", word, 1, 1), plain(word));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "~", "null", "Null", "NULL"})
  void nullWords(String word) throws SyntaxError {
    assertEquals(TokenKind.NULL, plain(word).kind());
  }

  @ParameterizedTest
  @CsvSource({
    "64, 64",
    "+64, 64",
    "-64, -64",
    "0100, 64",
    "-0100, -64",
    "0o100, 64",
    "0x40, 64",
    "0X4f, 79",
    "-0x40, -64",
    "0b11, 3",
    "-0b11, -3",
    "1_000, 1000",
    "08, 8",
    "0, 0",
    "-0, 0",
    "64.0, 64",
    "64., 64",
    "64.5, 64.5",
    ".5, 0.5",
    "+.5, 0.5",
    "1e3, 1000",
    "1E+3, 1000",
    "6.4e1, 64",
    "9223372036854775808, 9223372036854775808",
  })
  void numbers(String written, String json) throws SyntaxError {
    assertEquals(new Token(TokenKind.NUMBER, json, written, 1, 1), plain(written));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tRue",
        "nULL",
        "1:30",
        "0x",
        "0xg",
        "0b2",
        "0b",
        "1e",
        "1e400",
        "-",
        "+",
        ".",
        "e3",
        "_1",
        "1.2.3",
        "10.0.0.0/8",
        "2001-01-01",
        "12e03x",
        "--1",
        "0o9",
        "0x1.8p3",
        "\u0661"
      })
  void texts(String value) throws SyntaxError {
    assertEquals(new Token(TokenKind.TEXT, value, value, 1, 1), plain(value));
  }

  @ParameterizedTest
  @ValueSource(strings = {".inf", "-.INF", "+.Inf", ".nan", ".NaN"})
  void jsonHasNoSuchNumbers(String value) {
    assertThrows(SyntaxError.class, () -> plain(value));
  }

  @Test
  void quotesMakeText() throws SyntaxError {
    assertEquals(TokenKind.TEXT, YamlScalar.token("64", "", true, 1, 1).kind());
    assertEquals(TokenKind.TEXT, YamlScalar.token("", "", true, 1, 1).kind());
    assertEquals(TokenKind.TEXT, YamlScalar.token("<<", "", true, 1, 1).kind());
    assertEquals(TokenKind.MERGE, plain("<<").kind());
  }

  @Test
  void aTagDecides() throws SyntaxError {
    assertEquals(TokenKind.TEXT, tagged("str", "64").kind());
    assertEquals(TokenKind.BOOLEAN, tagged("bool", "yes").kind());
    assertEquals("64", tagged("int", "0x40").text());
    assertEquals("64", tagged("float", "64").text());
    assertEquals(TokenKind.NULL, tagged("null", "").kind());
    assertEquals("10.0.0.0/8", tagged("binary", "MTAuMC4w\nLjAvOA==").text());
    assertEquals(TokenKind.TEXT, YamlScalar.token("64", "!mine", false, 1, 1).kind());
    assertEquals(TokenKind.NUMBER, YamlScalar.token("64", "!", true, 1, 1).kind());
  }

  @Test
  void aTagThatDoesNotFit() {
    assertThrows(SyntaxError.class, () -> tagged("bool", "maybe"));
    assertThrows(SyntaxError.class, () -> tagged("int", "64.0"));
    assertThrows(SyntaxError.class, () -> tagged("int", "abc"));
    assertThrows(SyntaxError.class, () -> tagged("null", "x"));
    assertThrows(SyntaxError.class, () -> tagged("binary", "*"));
  }
}
