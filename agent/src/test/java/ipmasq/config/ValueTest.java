package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a scalar means. */
class ValueTest {
  private static Value value(String yaml) {
    try {
      return Document.of("x: " + yaml + "\n").top().orElseThrow().member("x").orElseThrow();
    } catch (SyntaxError e) {
      throw new AssertionError(yaml, e);
    }
  }

  private static void is(Value.Kind kind, String text, String yaml) {
    assertEquals(kind, value(yaml).kind(), yaml);
    assertEquals(text, value(yaml).text(), yaml);
  }

  @ParameterizedTest
  @ValueSource(strings = {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
  void trueWords(String word) {
    is(Value.Kind.BOOLEAN, "true", word);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
  void falseWords(String word) {
    is(Value.Kind.BOOLEAN, "false", word);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "~", "null", "Null", "NULL"})
  void nullWords(String word) {
    is(Value.Kind.NULL, "", word);
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
  void numbers(String written, String json) {
    is(Value.Kind.NUMBER, json, written);
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
        "+",
        ".",
        "e3",
        "_1",
        "1.2.3",
        "10.0.0.0/8",
        "2001-01-01",
        "12e03x",
        "--1",
        ".inf",
        "-.INF",
        ".NaN",
        "0o9",
        "0x1.8p3",
        "\u0661"
      })
  void texts(String value) {
    is(Value.Kind.TEXT, value, value);
  }

  @Test
  void quotesAndTagsMakeText() {
    is(Value.Kind.TEXT, "64", "'64'");
    is(Value.Kind.TEXT, "", "\"\"");
    is(Value.Kind.TEXT, "<<", "'<<'");
    is(Value.Kind.MERGE, "<<", "<<");
    is(Value.Kind.TEXT, "64", "!!str 64");
    is(Value.Kind.BOOLEAN, "true", "!!bool yes");
    is(Value.Kind.NUMBER, "64", "!!int 0x40");
    is(Value.Kind.NUMBER, "64", "&a 0x40");
    is(Value.Kind.TEXT, "64", "&a '64'");
  }
}
