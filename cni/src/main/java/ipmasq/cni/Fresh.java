package ipmasq.cni;

import java.util.List;

/** JSON that does not stand in a file yet. */
sealed interface Fresh {
  /** A value that is written as it is. */
  record Raw(String text) implements Fresh {}

  record Items(List<Fresh> items) implements Fresh {
    public Items {
      items = List.copyOf(items);
    }
  }

  record Fields(List<Field> fields) implements Fresh {
    public Fields {
      fields = List.copyOf(fields);
    }
  }

  /** A key and its value. */
  record Field(String key, Fresh value) {}

  /** A string in which nothing needs an escape: our keys, types and ranges. */
  static Fresh string(String plain) {
    return new Raw('"' + plain + '"');
  }

  static Fresh list(List<String> raws) {
    return new Items(raws.stream().<Fresh>map(Raw::new).toList());
  }

  static Fresh object(Field... fields) {
    return new Fields(List.of(fields));
  }

  static Field field(String key, Fresh value) {
    return new Field(key, value);
  }
}
