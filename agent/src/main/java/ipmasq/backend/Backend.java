package ipmasq.backend;

import ipmasq.net.Family;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;

/**
 * A way to put a policy in force. Used by one thread.
 *
 * <p>Families are apart: what fails for one says nothing of the other.
 */
public interface Backend {
  /** The name for people and metrics: {@code iptables-nft}, {@code nftables}. */
  String name();

  /** What it found out of the node that shaped it, for people; empty where there is nothing. */
  default String circumstances() {
    return "";
  }

  /** The policy in the form in which this backend holds it, so that observed can equal desired. */
  Policy form(Policy policy);

  /** Reads what is ours. */
  Observation observe(Family family);

  /**
   * Carries out a plan made from an observation by this backend, in one atomic step. A plan without
   * a desired policy removes all that is ours.
   */
  Outcome apply(Plan plan);
}
