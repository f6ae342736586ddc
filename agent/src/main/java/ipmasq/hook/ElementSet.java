package ipmasq.hook;

import java.util.Optional;

/** A set or map that is too long to be read: single elements of it are asked for. */
public interface ElementSet {
  /** As its owner calls it. */
  String name();

  ElementAnswer ask(byte[] key);

  /** What it says to a key. */
  sealed interface ElementAnswer {
    /**
     * It is there.
     *
     * @param verdict what a verdict map holds for it
     */
    record Present(Optional<Action> verdict) implements ElementAnswer {}

    record Absent() implements ElementAnswer {}

    /** The kernel does not say. */
    record NoAnswer() implements ElementAnswer {}
  }
}
