package ipmasq.json;

import ipmasq.json.JsonToken.TokenKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A JSON value that knows which bytes of its file spell it: {@code from} to before {@code to}. */
public sealed interface JsonValue {
  /** Enough for any real file, and safe for the stack. */
  int MAX_DEPTH = 100;

  int from();

  int to();

  /** Reads a whole text. */
  static JsonValue read(byte[] bytes) throws MalformedJson {
    JsonReader reader = new JsonReader(bytes, MAX_DEPTH);
    JsonValue value = value(reader.next(), reader);
    reader.next(); // nothing may follow
    return value;
  }

  private static JsonValue value(JsonToken first, JsonReader reader) throws MalformedJson {
    return switch (first.kind()) {
      case OBJECT -> {
        List<Member> members = new ArrayList<>();
        JsonToken at = reader.next();
        for (; at.kind() != TokenKind.OBJECT_END; at = reader.next()) {
          Str key = new Str(at.from(), at.to(), at.text());
          members.add(new Member(key, value(reader.next(), reader)));
        }
        yield new Obj(first.from(), at.to(), members);
      }
      case ARRAY -> {
        List<JsonValue> items = new ArrayList<>();
        JsonToken at = reader.next();
        for (; at.kind() != TokenKind.ARRAY_END; at = reader.next()) {
          items.add(value(at, reader));
        }
        yield new Arr(first.from(), at.to(), items);
      }
      case STRING -> new Str(first.from(), first.to(), first.text());
      case NULL, BOOLEAN, NUMBER -> new Word(first.from(), first.to(), first.text());
      case OBJECT_END, ARRAY_END, END -> throw new IllegalStateException("not a value: " + first);
    };
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
