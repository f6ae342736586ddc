package ipmasq.backend;

/** The result of carrying out a plan. */
public sealed interface Outcome {
  /** The kernel accepted it. */
  record Applied() implements Outcome {}

  /**
   * Observe and plan again: somebody else changed the rules in between, or the backend learned that
   * the node cannot do this. Part of the plan may be in force.
   */
  record Retry(String why) implements Outcome {}

  /** It cannot be done now; what was in force still is. */
  record Refused(Failure failure) implements Outcome {}
}
