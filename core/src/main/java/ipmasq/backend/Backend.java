package ipmasq.backend;

import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;

/**
 * A way to put a policy in force. Used by one thread.
 *
 * <p>IPv4 and IPv6 are independent: what fails for one says nothing of the other.
 */
public interface Backend {
  /** The name for people and metrics: {@code iptables-nft}, {@code nftables}. */
  String name();

  /** What it found out of the node that shaped it, for people; empty if there is nothing. */
  default String details() {
    return "";
  }

  /**
   * The policy in the form in which this backend holds it, so that observed can equal desired.
   *
   * @param observed what this backend saw last: where that has a say in the form
   */
  Policy normalize(Policy policy, Observed observed);

  /** Reads what is ours. */
  Observation observe(Family family);

  /**
   * Carries out a plan made from an observation by this backend, in one atomic step. A plan without
   * a desired policy removes all that is ours.
   */
  Outcome apply(Plan plan);
}
