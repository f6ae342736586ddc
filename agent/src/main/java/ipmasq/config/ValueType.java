package ipmasq.config;

import ipmasq.config.Setting.Places;
import java.util.Map;
import java.util.Optional;

/** A type of values: how it is read from a file or a flag, and described to editors. */
interface ValueType<T> {
  /**
   * Reads exactly one value from a file.
   *
   * @return empty if the file leaves the default in place, or if the value is invalid and the
   *     problems say why
   */
  Optional<T> read(Input in) throws SyntaxError;

  /** Reads the text of a flag. */
  ParsedValue<T> parse(String text);

  /** What JSON Schema says of it. */
  Map<String, Object> schema();

  /** The value as JSON would have it. */
  Object json(T value);

  /** An immutable copy of the value. */
  default T copy(T value) {
    return value;
  }

  /** The result of parsing a text. */
  sealed interface ParsedValue<T> {
    record Value<T>(T value) implements ParsedValue<T> {}

    /** Not such a value, and why. */
    record MalformedValue<T>(String reason) implements ParsedValue<T> {}
  }

  /**
   * A value in a file, about to be read.
   *
   * @param key its name, for messages
   * @param first its first token
   * @param rest what comes after
   * @param places takes the place of the value, or of each element of a list
   */
  record Input(String key, Token first, Tokens rest, Places places, Problems problems) {
    /** Reports that the value is of another type, and reads past it. */
    void mismatch(String wanted, String hint) throws SyntaxError {
      problems.error(first, key + " is " + first.phrase() + wanted, hint);
      rest.skip(first);
    }
  }
}
