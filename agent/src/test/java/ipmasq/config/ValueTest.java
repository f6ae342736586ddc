package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a scalar means. */
class ValueTest {
  private static Value value(String yaml) {
    Yaml documents = Yaml.of("f", "x: " + yaml + "\n", 0);
    assertTrue(documents.hasNext());
    return Value.of(documents.next()).member("x").orElseThrow();
  }

  private static void is(Value.Kind kind, String text, String yaml) {
    assertEquals(kind, value(yaml).kind(), yaml);
    assertEquals(text, value(yaml).text(), yaml);
  }

  @ParameterizedTest
  @ValueSource(strings = {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
  void trueWords(String word) {
    is(Value.Kind.BOOLEAN, word, word);
    assertEquals(true, value(word).isTrue());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
  void falseWords(String word) {
    is(Value.Kind.BOOLEAN, word, word);
    assertEquals(false, value(word).isTrue());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "~", "null", "Null", "NULL"})
  void nullWords(String word) {
    is(Value.Kind.NULL, word, word);
  }

  @ParameterizedTest
  @CsvSource({
    "64, 64",
    "+64, 64",
    "-64, -64",
    "0100, 64",
    "-0100, -64",
    "0x40, 64",
    "0X4f, 79",
    "-0x40, -64",
    "1_000, 1000",
    "08, 8",
    "0, 0",
    "-0, 0",
    "64.0, 64",
    "64., 64",
    "1e3, 1000",
    "1E+3, 1000",
    "6.4e1, 64",
  })
  void wholeNumbers(String written, long number) {
    is(Value.Kind.NUMBER, written, written);
    assertEquals(OptionalLong.of(number), value(written).whole());
  }

  @ParameterizedTest
  @ValueSource(strings = {"64.5", ".5", "+.5", "9223372036854775808", "1e400", "-1e-400"})
  void otherNumbers(String written) {
    is(Value.Kind.NUMBER, written, written);
    assertEquals(OptionalLong.empty(), value(written).whole());
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
    is(Value.Kind.BOOLEAN, "yes", "!!bool yes");
    is(Value.Kind.NUMBER, "0x40", "!!int 0x40");
    is(Value.Kind.NUMBER, "0x40", "&a 0x40");
    is(Value.Kind.TEXT, "64", "&a '64'");
  }
}
