package ipmasq.cni;

import java.util.List;

/** JSON that is not in a file yet. */
sealed interface NewJson {
  /** A value that is written as it is. */
  record Raw(String text) implements NewJson {}

  record Items(List<NewJson> items) implements NewJson {
    public Items {
      items = List.copyOf(items);
    }
  }

  record Fields(List<Field> fields) implements NewJson {
    public Fields {
      fields = List.copyOf(fields);
    }
  }

  /** A key and its value. */
  record Field(String key, NewJson value) {}

  /** A string in which nothing needs an escape: our keys, types and ranges. */
  static NewJson string(String plain) {
    return new Raw('"' + plain + '"');
  }

  static NewJson list(List<String> raws) {
    return new Items(raws.stream().<NewJson>map(Raw::new).toList());
  }

  static NewJson object(Field... fields) {
    return new Fields(List.of(fields));
  }

  static Field field(String key, NewJson value) {
    return new Field(key, value);
  }
}
