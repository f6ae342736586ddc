package ipmasq.backend;

/** What came of carrying out a plan. */
public sealed interface Outcome {
  /** The kernel took it. */
  record Applied() implements Outcome {}

  /** Somebody else changed the rules in between; nothing was written. Look and plan again. */
  record Raced(String how) implements Outcome {}

  /** It cannot be done now; what was in force still is. */
  record Refused(Failure failure) implements Outcome {}
}
