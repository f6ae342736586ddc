package ipmasq.config;

import java.util.Map;
import java.util.Optional;

/** A type of values: how it is read from a file or a flag, and described to editors. */
interface ValueType<T> {
  /**
   * Reads exactly one value from a file.
   *
   * @return nothing where the file leaves the default in place, or where the value is no good and
   *     the problems say why
   */
  Optional<T> read(ValueInput in) throws SyntaxError;

  /** Reads the text of a flag. */
  Parsed<T> parse(String text);

  /** What JSON Schema says of it. */
  Map<String, Object> schema();

  /** The value as JSON would have it. */
  Object json(T value);

  /** A value that nobody changes from outside. */
  default T copy(T value) {
    return value;
  }

  /** What came of reading a text. */
  sealed interface Parsed<T> {
    record Value<T>(T value) implements Parsed<T> {}

    /** Not such a value, and why. */
    record Malformed<T>(String reason) implements Parsed<T> {}
  }
}
