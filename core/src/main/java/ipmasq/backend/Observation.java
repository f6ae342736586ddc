package ipmasq.backend;

import ipmasq.plan.Observed;

/** The result of an observation. */
public sealed interface Observation {
  record Seen(Observed observed) implements Observation {}

  /** They could not be read: whether they are in force is not known. */
  record Unseen(Failure failure) implements Observation {}

  /** They were read, and something that no plan can change keeps them from being in force. */
  record Unusable(Failure failure) implements Observation {}
}
