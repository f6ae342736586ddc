package ipmasq.config;

import java.util.Arrays;

/** Where the elements of a list stand: two ints each, not objects. */
final class Places {
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
