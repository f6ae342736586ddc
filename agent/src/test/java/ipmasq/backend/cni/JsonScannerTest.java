package ipmasq.backend.cni;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ipmasq.backend.cni.Json.Malformed;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonScannerTest {
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
  void readsWhatIsJson(String text) throws Malformed {
    Json value = JsonScanner.read(text.getBytes(UTF_8));
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
        "[1.]                | 1:4 | expected a digit, found ']'",
        "[-]                 | 1:3 | expected a digit, found ']'",
        "[1e]                | 1:4 | expected a digit, found ']'",
        "[+1]                | 1:2 | expected a value, found '+'",
        "[nul]               | 1:2 | expected a value",
        "// no               | 1:1 | expected a value, found '/'",
        "{a:1}               | 1:2 | expected a key in quotes, found 'a'",
        "[\"abc]             | 1:2 | a string without its closing quote",
        "[\"a\\x\"]          | 1:4 | an unknown escape in a string",
        "[\"a\\u12G4\"]      | 1:8 | expected four hexadecimal digits, found 'G'",
        "{} {}               | 1:4 | expected the end of the file, found '{'",
      })
  void saysWhereItIsNot(String text, String place, String what) {
    byte[] bytes = text.getBytes(UTF_8);
    Malformed e = assertThrows(Malformed.class, () -> JsonScanner.read(bytes));
    assertEquals(place + " " + what, Document.place(bytes, e.at()) + " " + e.what());
  }

  @Test
  void countsLinesOfAnyKindAndColumnsInCharacters() {
    byte[] bytes = "{\r\n\"a\":1,\r\"b\":2,\n\"äöü\": x}".getBytes(UTF_8);
    Malformed e = assertThrows(Malformed.class, () -> JsonScanner.read(bytes));
    assertEquals("4:8", Document.place(bytes, e.at()));
  }

  @Test
  void aByteOrderMarkIsNoCharacterAndUtf16IsNamed() {
    byte[] marked = "\ufeff!".getBytes(UTF_8);
    Malformed e = assertThrows(Malformed.class, () -> JsonScanner.read(marked));
    assertEquals("1:1", Document.place(marked, e.at()));
    byte[] wide = "ÿþ{\0}\0".getBytes(ISO_8859_1);
    assertEquals(
        "the file is UTF-16, but CNI plugins read UTF-8",
        assertThrows(Malformed.class, () -> JsonScanner.read(wide)).what());
  }

  @Test
  void aControlCharacterInAStringIsAnError() {
    assertThrows(Malformed.class, () -> JsonScanner.read("\"a\nb\"".getBytes(UTF_8)));
  }

  @Test
  void depthIsBounded() throws Malformed {
    JsonScanner.read(("[".repeat(100) + "]".repeat(100)).getBytes(UTF_8));
    assertThrows(Malformed.class, () -> JsonScanner.read("[".repeat(1_000_000).getBytes(UTF_8)));
  }

  @Test
  void resolvesEscapes() throws Malformed {
    Json value = JsonScanner.read("\"10.0.0.0\\/8 \\u00e9 \\ud83d\\ude00\"".getBytes(UTF_8));
    assertEquals("10.0.0.0/8 é 😀", assertInstanceOf(Json.Str.class, value).text());
  }

  /** Whatever the bytes are, the answer is a document or a place in them. */
  @Test
  void damagedFilesAreReadOrRejected() {
    Random random = new Random(9);
    for (String name : Node.CORPUS) {
      byte[] whole = Node.resource(name);
      for (int i = 0; i < 300; i++) {
        byte[] bytes = java.util.Arrays.copyOf(whole, random.nextInt(whole.length + 1));
        for (int flips = random.nextInt(4); flips > 0 && bytes.length > 0; flips--) {
          bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        }
        try {
          Document document = Document.read(bytes);
          assertEquals(true, document.spells(document.with(List.of())));
          Shapes.lists(document);
        } catch (Malformed e) {
          Document.place(bytes, e.at());
        }
      }
    }
  }
}
