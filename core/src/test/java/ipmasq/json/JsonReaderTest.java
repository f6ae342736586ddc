package ipmasq.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonReaderTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[]",
        " [ ] ",
        "\"\"",
        "0",
        "-0",
        "-0.5e-10",
        "1E+2",
        "true",
        "false",
        "null",
        "[1,[2,{\"a\":[]}],\"\\u00e9\\\\\"]",
        "{\"a\":1,\"a\":2}",
        "\r\n\t[\r\n]\t",
      })
  void readsWhatIsJson(String text) throws MalformedJson {
    JsonValue value = JsonValue.read(text.getBytes(UTF_8));
    assertEquals(text.strip(), text.substring(value.from(), value.to()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''                  | 1:1 | expected a value, found the end of the file",
        "{                   | 1:2 | expected a key in quotes, found the end of the file",
        "{\"a\" 1}           | 1:6 | expected a colon, found '1'",
        "{\"a\":1,}          | 1:8 | expected a key in quotes, found '}'",
        "{\"a\":1 \"b\":2}   | 1:8 | expected a comma or }, found '\"'",
        "[1,]                | 1:4 | expected a value, found ']'",
        "[1 2]               | 1:4 | expected a comma or ], found '2'",
        "[01]                | 1:3 | expected a comma or ], found '1'",
        "[1.]                | 1:3 | expected a comma or ], found '.'",
        "[-]                 | 1:2 | expected a value, found '-'",
        "[1e]                | 1:3 | expected a comma or ], found 'e'",
        "[+1]                | 1:2 | expected a value, found '+'",
        "[nul]               | 1:2 | expected a value, found 'n'",
        "// no               | 1:1 | expected a value, found '/'",
        "{a:1}               | 1:2 | expected a key in quotes, found 'a'",
        "[\"abc]             | 1:2 | a string without its closing quote",
        "[\"a\\x\"]          | 1:4 | an unknown escape in a string",
        "[\"a\\u12G4\"]      | 1:8 | expected four hexadecimal digits, found 'G'",
        "{} {}               | 1:4 | expected the end of the file, found '{'",
      })
  void saysWhereItIsNot(String text, String place, String what) {
    byte[] bytes = text.getBytes(UTF_8);
    MalformedJson e = assertThrows(MalformedJson.class, () -> JsonValue.read(bytes));
    assertEquals(place + " " + what, JsonReader.place(bytes, e.at()) + " " + e.what());
  }

  @Test
  void countsLinesOfAnyKindAndColumnsInCharacters() {
    byte[] bytes = "{\r\n\"a\":1,\r\"b\":2,\n\"äöü\": x}".getBytes(UTF_8);
    MalformedJson e = assertThrows(MalformedJson.class, () -> JsonValue.read(bytes));
    assertEquals("4:8", JsonReader.place(bytes, e.at()).toString());
  }

  @Test
  void aByteOrderMarkIsNoCharacter() {
    byte[] marked = "\ufeff!".getBytes(UTF_8);
    MalformedJson e = assertThrows(MalformedJson.class, () -> JsonValue.read(marked));
    assertEquals("1:1", JsonReader.place(marked, e.at()).toString());
  }

  @Test
  void aControlCharacterInAStringIsAnError() {
    assertThrows(MalformedJson.class, () -> JsonValue.read("\"a\nb\"".getBytes(UTF_8)));
  }

  @Test
  void depthIsBounded() throws MalformedJson {
    JsonValue.read(("[".repeat(100) + "]".repeat(100)).getBytes(UTF_8));
    assertThrows(MalformedJson.class, () -> JsonValue.read("[".repeat(1_000_000).getBytes(UTF_8)));
  }

  @Test
  void resolvesEscapes() throws MalformedJson {
    JsonValue value = JsonValue.read("\"10.0.0.0\\/8 \\u00e9 \\ud83d\\ude00\"".getBytes(UTF_8));
    assertEquals("10.0.0.0/8 é 😀", assertInstanceOf(JsonValue.Str.class, value).text());
  }

  @Test
  void escapes() throws MalformedJson {
    assertEquals(
        "\"\\/\b\f\n\r\tA\ud83d\ude00",
        assertInstanceOf(
                JsonValue.Str.class,
                JsonValue.read(
                    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83d\\uDE00\"".getBytes(UTF_8)))
            .text());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[1",
        "[1,",
        "{\"a\"",
        "{\"a\":",
        "{'a':1}",
        ".5",
        "tru",
        "\"",
        "\"a\nb\"",
        "1 2",
        "# c",
        "[1}",
        "{]",
        "NaN",
        "\u00a01",
        "\"\\"
      })
  void refusals(String text) {
    assertThrows(MalformedJson.class, () -> JsonValue.read(text.getBytes(UTF_8)));
  }
}
