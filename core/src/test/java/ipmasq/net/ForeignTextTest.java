package ipmasq.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ForeignTextTest {
  /** What clears a screen, forges a line, or turns text around. */
  @ParameterizedTest
  @CsvSource({
    "1b, \\u001b",
    "07, \\u0007",
    "0a, \\u000a",
    "0d, \\u000d",
    "7f, \\u007f",
    "85, \\u0085",
    "9b, \\u009b",
    "200b, \\u200b",
    "200f, \\u200f",
    "202e, \\u202e",
    "2028, \\u2028",
    "2029, \\u2029",
    "2066, \\u2066",
    "feff, \\ufeff",
    "d800, \\ud800",
    "e0001, \\ue0001"
  })
  void isNeverMoreThanText(String point, String escaped) {
    String raw = "a" + new String(Character.toChars(Integer.parseInt(point, 16))) + "b";
    assertEquals("a" + escaped + "b", new ForeignText(raw).toString());
  }

  @Test
  void whatPeopleWriteStays() {
    for (String text : new String[] {"-m comment --comment \"ünï 漢字 😀\"", "", "a\\b"}) {
      assertEquals(text, new ForeignText(text).text());
    }
  }

  @Test
  void madeAgainItIsTheSame() {
    ForeignText once = new ForeignText("a\u001b[2Jb");
    assertEquals(once, new ForeignText(once.text()));
  }

  @Test
  void isShortened() {
    assertEquals(301, ForeignText.shortened("x".repeat(1000)).text().length());
  }
}
