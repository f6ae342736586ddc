package ipmasq.backend;

import java.util.Optional;

/** Tells cheaply whether our rules may have changed. Used by one thread. */
@FunctionalInterface
public interface Watch {
  /** For rules without a cheap way to tell. */
  Watch NONE = Optional::empty;

  /**
   * A fingerprint of the rules as they are: while it equals an earlier one, they have not changed.
   * Empty if unknown.
   */
  Optional<Object> fingerprint();

  /** The same, always read from the rules themselves, without any shortcut. */
  default Optional<Object> freshFingerprint() {
    return fingerprint();
  }
}
