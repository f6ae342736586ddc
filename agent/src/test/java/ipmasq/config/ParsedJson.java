package ipmasq.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.json.JsonValue;
import ipmasq.json.MalformedJson;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON as maps, lists, texts and null; numbers and booleans are texts. */
public final class ParsedJson {
  private ParsedJson() {}

  public static @Nullable Object of(String text) {
    try {
      return value(JsonValue.read(text.getBytes(UTF_8)));
    } catch (MalformedJson e) {
      throw new AssertionError("not JSON: " + text, e);
    }
  }

  /** The same, where it must be a map. */
  @SuppressWarnings("unchecked") // a map made here has no other keys
  public static Map<String, @Nullable Object> map(@Nullable Object value) {
    return (Map<String, @Nullable Object>) (Map<?, ?>) Map.class.cast(value);
  }

  /** The maps of a list. */
  public static List<Map<String, @Nullable Object>> maps(@Nullable Object value) {
    List<Map<String, @Nullable Object>> maps = new ArrayList<>();
    for (Object element : (List<?>) List.class.cast(value)) {
      maps.add(map(element));
    }
    return maps;
  }

  private static @Nullable Object value(JsonValue json) {
    return switch (json) {
      case JsonValue.Word word -> word.isNull() ? null : word.text();
      case JsonValue.Str(_, _, var text) -> text;
      case JsonValue.Arr(_, _, var items) -> {
        List<@Nullable Object> list = new ArrayList<>();
        items.forEach(item -> list.add(value(item)));
        yield list;
      }
      case JsonValue.Obj(_, _, var members) -> {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        members.forEach(member -> map.put(member.key().text(), value(member.value())));
        yield map;
      }
    };
  }
}
