package ipmasq.json;

import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes JSON from plain values: maps keep their order, lists, text, numbers, booleans, null; an
 * optional as its value or null, anything else as its string form.
 */
public final class Json {
  private final StringBuilder text = new StringBuilder();

  private Json() {}

  /** On one line. */
  public static String write(@Nullable Object value) {
    Json json = new Json();
    json.value(value);
    return json.text.toString();
  }

  private void value(@Nullable Object value) {
    switch (value) {
      case null -> text.append("null");
      case Optional<?> o -> value(o.orElse(null));
      case Boolean b -> text.append(b);
      case Number n -> text.append(n);
      case Map<?, ?> map -> object(map);
      case Iterable<?> list -> array(list);
      default -> string(value.toString());
    }
  }

  private void object(Map<?, ?> map) {
    char before = '{';
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      text.append(before);
      string(String.valueOf(entry.getKey()));
      text.append(':');
      value(entry.getValue());
      before = ',';
    }
    text.append(before == '{' ? "{}" : "}");
  }

  private void array(Iterable<?> list) {
    char before = '[';
    for (Object item : list) {
      text.append(before);
      value(item);
      before = ',';
    }
    text.append(before == '[' ? "[]" : "]");
  }

  private void string(String value) {
    text.append('"');
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '"', '\\' -> text.append('\\').append(c);
        case '\n' -> text.append("\\n");
        case '\r' -> text.append("\\r");
        case '\t' -> text.append("\\t");
        default -> {
          if (Character.isISOControl(c) || Character.isSurrogate(c) && !paired(value, i)) {
            text.append("\\u").append(Integer.toHexString(0x10000 | c).substring(1));
          } else {
            text.append(c);
          }
        }
      }
    }
    text.append('"');
  }

  private static boolean paired(String value, int i) {
    return Character.isHighSurrogate(value.charAt(i))
        ? i + 1 < value.length() && Character.isLowSurrogate(value.charAt(i + 1))
        : i > 0 && Character.isHighSurrogate(value.charAt(i - 1));
  }
}
