package ipmasq.backend;

import ipmasq.plan.Observed;

/** What came of looking. */
public sealed interface Observation {
  record Seen(Observed observed) implements Observation {}

  record Unseen(Failure failure) implements Observation {}
}
