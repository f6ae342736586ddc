package ipmasq.hook;

import java.util.Optional;

/** A set or map that is too large to read: single elements are queried. */
public interface ElementSet {
  /** The name that its owner gave it. */
  String name();

  ElementAnswer ask(byte[] key);

  /** The answer for a key. */
  sealed interface ElementAnswer {
    /**
     * The key is present.
     *
     * @param verdict what a verdict map holds for it
     */
    record Present(Optional<Action> verdict) implements ElementAnswer {}

    record Absent() implements ElementAnswer {}

    /** The kernel does not say. */
    record NoAnswer() implements ElementAnswer {}
  }
}
