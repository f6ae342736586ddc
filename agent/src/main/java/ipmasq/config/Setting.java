package ipmasq.config;

import java.util.Arrays;
import java.util.Optional;

/**
 * A key in a file and its value.
 *
 * @param value empty if the file leaves the default in place, or if the value is invalid
 * @param places of the value, or of each element of a list
 * @param merged whether it came by {@code <<}
 */
record Setting<T>(
    Key<T> key, Token at, Optional<T> value, Places places, boolean merged, Problems problems) {
  /** {@code line:column}. */
  String place() {
    return at.line() + ":" + at.column();
  }

  /** Whether the key has its exact spelling. */
  boolean exact() {
    return at.text().equals(key.name());
  }

  /** The places of list elements: two ints each, not objects. */
  static final class Places {
    private int[] places = new int[2];
    private int size;

    void add(Token at) {
      int i = 2 * size++;
      if (i == places.length) {
        places = Arrays.copyOf(places, 2 * i);
      }
      places[i] = at.line();
      places[i + 1] = at.column();
    }

    int line(int i) {
      return places[2 * i];
    }

    int column(int i) {
      return places[2 * i + 1];
    }
  }
}
