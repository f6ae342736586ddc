package ipmasq.backend.cni;

import java.util.List;
import java.util.Optional;

/** A JSON value that knows which bytes of its file spell it: {@code from} to before {@code to}. */
sealed interface Json {
  int from();

  int to();

  /** An object, its members in the file's order and as often as they stand there. */
  record Obj(int from, int to, List<Member> members) implements Json {
    public Obj {
      members = List.copyOf(members);
    }

    /**
     * The value of a key, in any case: the plugins' own readers ignore it.
     *
     * <p>Which of two keys of one name counts depends on who reads the file, so where it matters to
     * us two are an error. Other keys may stand there as often as they like.
     */
    Optional<Json> value(String name) throws Malformed {
      return member(name).map(Member::value);
    }

    Optional<Member> member(String name) throws Malformed {
      Optional<Member> found = Optional.empty();
      for (Member member : members) {
        if (member.key.text.equalsIgnoreCase(name)) {
          if (found.isPresent()) {
            throw new Malformed(
                member.key.from, "the key \"" + member.key.text + "\" stands here a second time");
          }
          found = Optional.of(member);
        }
      }
      return found;
    }

    Optional<Obj> object(String name) throws Malformed {
      return value(name).filter(Obj.class::isInstance).map(Obj.class::cast);
    }

    Optional<Arr> array(String name) throws Malformed {
      return value(name).filter(Arr.class::isInstance).map(Arr.class::cast);
    }

    /** Whether the key has this text as its value, in any case. */
    boolean says(String name, String text) throws Malformed {
      return value(name).orElse(null) instanceof Str(_, _, var is) && is.equalsIgnoreCase(text);
    }
  }

  /** A key and its value. */
  record Member(Str key, Json value) {}

  record Arr(int from, int to, List<Json> items) implements Json {
    public Arr {
      items = List.copyOf(items);
    }
  }

  /**
   * A string.
   *
   * @param text what it says, escapes resolved
   */
  record Str(int from, int to, String text) implements Json {}

  /** A number, {@code true}, {@code false} or {@code null}, as it is written. */
  record Word(int from, int to, String text) implements Json {
    boolean isNull() {
      return text.equals("null");
    }
  }

  /** The file is not what it should be, at this byte. */
  final class Malformed extends Exception {
    private static final long serialVersionUID = 1L;
    private final int at;

    Malformed(int at, String what) {
      super(what, null, false, false);
      this.at = at;
    }

    int at() {
      return at;
    }

    String what() {
      return String.valueOf(getMessage());
    }
  }
}
