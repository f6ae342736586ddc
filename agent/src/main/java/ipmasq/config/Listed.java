package ipmasq.config;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The elements of a list in a file, each with its place: two ints an element, not two objects. */
final class Listed<T> {
  private final List<T> values;
  private int[] places = new int[16];

  /** One that keeps its values in an empty list of the caller's. */
  Listed(List<T> values) {
    this.values = values;
  }

  static <T> Listed<T> empty() {
    return new Listed<>(new ArrayList<>());
  }

  void add(T value, Token at) {
    int i = 2 * values.size();
    if (i == places.length) {
      places = Arrays.copyOf(places, 2 * i);
    }
    places[i] = at.line();
    places[i + 1] = at.column();
    values.add(value);
  }

  List<T> values() {
    return values;
  }

  int size() {
    return values.size();
  }

  T value(int i) {
    return values.get(i);
  }

  int line(int i) {
    return places[2 * i];
  }

  int column(int i) {
    return places[2 * i + 1];
  }
}
