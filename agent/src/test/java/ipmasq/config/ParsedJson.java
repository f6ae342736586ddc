package ipmasq.config;

import ipmasq.config.Token.Kind;
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
      Tokens tokens = new JsonTokens(text);
      Object value = value(tokens.next(), tokens);
      tokens.next(); // nothing may follow
      return value;
    } catch (SyntaxError e) {
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

  private static @Nullable Object value(Token first, Tokens rest) throws SyntaxError {
    return switch (first.kind()) {
      case NULL -> null;
      case TEXT, NUMBER, BOOLEAN -> first.text();
      case LIST -> {
        List<@Nullable Object> list = new ArrayList<>();
        for (Token at = rest.next(); at.kind() != Kind.LIST_END; at = rest.next()) {
          list.add(value(at, rest));
        }
        yield list;
      }
      case MAP -> {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        for (Token at = rest.next(); at.kind() != Kind.MAP_END; at = rest.next()) {
          map.put(at.text(), value(rest.next(), rest));
        }
        yield map;
      }
      case MERGE, LIST_END, MAP_END, END -> throw new AssertionError(first);
    };
  }
}
