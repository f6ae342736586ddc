package ipmasq.backend;

import ipmasq.plan.Observed;

/** The result of an observation. */
public sealed interface Observation {
  record Seen(Observed observed) implements Observation {}

  record Unseen(Failure failure) implements Observation {}
}
