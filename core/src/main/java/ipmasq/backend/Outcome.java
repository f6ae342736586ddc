package ipmasq.backend;

/** The result of carrying out a plan. */
public sealed interface Outcome {
  /** The kernel accepted it. */
  record Applied() implements Outcome {}

  /** Another program changed the rules in between; nothing was written. Observe and plan again. */
  record Raced(String how) implements Outcome {}

  /** It cannot be done now; what was in force still is. */
  record Refused(Failure failure) implements Outcome {}
}
