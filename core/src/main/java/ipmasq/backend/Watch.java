package ipmasq.backend;

import java.util.Optional;

/** Tells cheaply whether somebody may have changed our rules. Used by one thread. */
@FunctionalInterface
public interface Watch {
  /** For rules that nothing cheap can be told of. */
  Watch NONE = Optional::empty;

  /**
   * A fingerprint of the rules as they are: while it equals an earlier one, they have not changed.
   * Empty if that cannot be told.
   */
  Optional<Object> fingerprint();

  /** The same, read from the rules themselves, whatever says that nothing has changed. */
  default Optional<Object> freshFingerprint() {
    return fingerprint();
  }
}
