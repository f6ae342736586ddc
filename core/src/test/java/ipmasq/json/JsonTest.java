package ipmasq.json;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonTest {
  @Test
  void valuesAreWrittenInTheirOrder() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("b", List.of(1, 2.5, true));
    map.put("a", Arrays.asList("x", null));
    map.put("none", List.of());
    map.put("empty", Map.of());
    assertEquals(
        """
        {"b":[1,2.5,true],"a":["x",null],"none":[],"empty":{}}""",
        Json.write(map));
  }

  @Test
  void textIsEscaped() {
    assertEquals("\"a\\\"b\\\\c\\n\\t\\u0001é😀\"", Json.write("a\"b\\c\n\t\u0001é😀"));
  }

  @Test
  void halfACharacterDoesNotBreakTheText() {
    assertEquals("\"\\ud83d.\"", Json.write("\ud83d."));
    assertEquals("\"\\ude00\"", Json.write("\ude00"));
  }
}
