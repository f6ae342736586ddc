package ipmasq.config;

import java.util.Arrays;
import java.util.Optional;

/**
 * A key in a file and its value.
 *
 * @param at its name
 * @param value empty if the file leaves the default in place, or if the value is invalid
 * @param places of the value, or of each element of a list
 */
record Setting<T>(Key<T> key, Value at, Optional<T> value, Places places) {
  /** The places of list elements: two ints each, not objects. */
  static final class Places {
    private int[] places = new int[2];
    private int size;

    void add(Value at) {
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
