package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ipmasq.config.Token.Kind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTokensTest {
  private static List<Token> all(String text) throws SyntaxError {
    JsonTokens tokens = new JsonTokens(text);
    List<Token> all = new ArrayList<>();
    do {
      all.add(tokens.next());
    } while (all.getLast().kind() != Kind.END);
    return all;
  }

  @Test
  void everyKindWithItsPlace() throws SyntaxError {
    List<String> tokens = new ArrayList<>();
    for (Token t : all("{\"a\" : [1, -2.5e+3,\n\ttrue,false,null, {}, []]\r\n}")) {
      tokens.add(t.kind() + " " + t.text() + " " + t.line() + ":" + t.column());
    }
    assertEquals(
        """
        MAP  1:1
        TEXT a 1:2
        LIST  1:8
        NUMBER 1 1:9
        NUMBER -2.5e+3 1:12
        BOOLEAN true 2:2
        BOOLEAN false 2:7
        NULL null 2:13
        MAP  2:19
        MAP_END  2:20
        LIST  2:23
        LIST_END  2:24
        LIST_END  2:25
        MAP_END  3:1
        END  3:2""",
        String.join("\n", tokens));
  }

  @Test
  void escapes() throws SyntaxError {
    assertEquals(
        "\"\\/\b\f\n\r\tA\ud83d\ude00",
        all("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83d\\uDE00\"").getFirst().text());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "+1",
        "tru",
        "nul",
        "\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"a\nb\"",
        "1 2",
        "{} x",
        "# c",
        "[1}",
        "{]",
        "NaN",
        "\u00a01",
        "\"\\"
      })
  void refusals(String text) {
    assertThrows(SyntaxError.class, () -> all(text));
  }

  @Test
  void depthIsBounded() throws SyntaxError {
    assertEquals(20_001, all("[".repeat(10_000) + "]".repeat(10_000)).size());
    assertThrows(SyntaxError.class, () -> all("[".repeat(10_001)));
  }
}
