package ipmasq.config;

import java.util.Optional;

/**
 * A key in a file and its value.
 *
 * @param value nothing where the file leaves the default in place, or where the value is no good
 * @param places of the value, or of each element of a list
 * @param merged whether it came by {@code <<}
 */
record Setting<T>(
    Key<T> key, Token at, Optional<T> value, Places places, boolean merged, Problems problems) {
  /** {@code line:column}. */
  String place() {
    return at.line() + ":" + at.column();
  }

  /** Whether the key is spelled as we spell it. */
  boolean exact() {
    return at.text().equals(key.name());
  }
}
