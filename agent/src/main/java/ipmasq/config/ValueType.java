package ipmasq.config;

import ipmasq.config.Setting.Places;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** A type of values: how it is read from a file or a flag, and described to editors. */
interface ValueType<T> {
  /**
   * Reads a value from a file.
   *
   * @return empty if the file leaves the default in place, or if the value is invalid and the
   *     problems say why
   */
  Optional<T> read(Input in);

  /** Reads the text of a flag. */
  Parsed<T> parse(String text);

  /** What JSON Schema says of it. */
  Map<String, Object> schema();

  /** The value as JSON would have it. */
  Object json(T value);

  /** An immutable copy of the value. */
  default T copy(T value) {
    return value;
  }

  /** The result of parsing a text. */
  sealed interface Parsed<T> {
    record Valid<T>(T value) implements Parsed<T> {}

    /** Not such a value, and why. */
    record Malformed<T>(String reason) implements Parsed<T> {}
  }

  /**
   * A value in a file, about to be read.
   *
   * @param key its name, for messages
   * @param places takes the place of the value, or of each element of a list
   */
  record Input(String key, Value value, Places places, Problems problems) {
    /** Reports that the value is of another type, or not possible. */
    <T> Optional<T> mismatch(String wanted, String hint) {
      problems.error(value, key + " is " + value.phrase() + wanted, hint);
      return Optional.empty();
    }
  }

  /** Alternating names and values, in this order. */
  static Map<String, Object> ordered(Object... namesAndValues) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      map.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return map;
  }
}
