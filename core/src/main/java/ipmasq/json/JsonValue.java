package ipmasq.json;

import java.util.List;
import java.util.Optional;

/** A JSON value that knows which bytes of its file spell it: {@code from} to before {@code to}. */
public sealed interface JsonValue {
  int from();

  int to();

  /** Reads a whole text. */
  static JsonValue read(byte[] bytes) throws MalformedJson {
    return JsonReader.read(bytes);
  }

  /** An object with its members in the file's order, duplicates included. */
  record Obj(int from, int to, List<Member> members) implements JsonValue {
    public Obj {
      members = List.copyOf(members);
    }

    /**
     * The value of a key, ignoring case, as the Go programs that own these files do.
     *
     * <p>Which of two equal keys wins depends on the reader, so for keys that we use a duplicate is
     * an error. Other keys may be duplicated.
     */
    public Optional<JsonValue> value(String name) throws MalformedJson {
      return member(name).map(Member::value);
    }

    public Optional<Member> member(String name) throws MalformedJson {
      Optional<Member> found = Optional.empty();
      for (Member member : members) {
        if (member.key.text.equalsIgnoreCase(name)) {
          if (found.isPresent()) {
            throw new MalformedJson(
                member.key.from, "the key \"" + member.key.text + "\" appears a second time");
          }
          found = Optional.of(member);
        }
      }
      return found;
    }

    public Optional<Obj> object(String name) throws MalformedJson {
      return value(name).filter(Obj.class::isInstance).map(Obj.class::cast);
    }

    public Optional<Arr> array(String name) throws MalformedJson {
      return value(name).filter(Arr.class::isInstance).map(Arr.class::cast);
    }

    /** Whether the key has this text as its value, in any case. */
    public boolean says(String name, String text) throws MalformedJson {
      return value(name).orElse(null) instanceof Str(_, _, var is) && is.equalsIgnoreCase(text);
    }
  }

  /** A key and its value. */
  record Member(Str key, JsonValue value) {}

  record Arr(int from, int to, List<JsonValue> items) implements JsonValue {
    public Arr {
      items = List.copyOf(items);
    }
  }

  /**
   * A string.
   *
   * @param text what it says, escapes resolved
   */
  record Str(int from, int to, String text) implements JsonValue {}

  /** A number, {@code true}, {@code false} or {@code null}, as it is written. */
  record Word(int from, int to, String text) implements JsonValue {
    public boolean isNull() {
      return text.equals("null");
    }
  }
}
