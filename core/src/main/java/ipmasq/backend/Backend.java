package ipmasq.backend;

import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import java.util.List;

/**
 * A way to put a policy in force. Used by one thread.
 *
 * <p>IPv4 and IPv6 are independent: a failure of one says nothing about the other.
 */
public interface Backend {
  /** The name for people and metrics: {@code iptables-nft}, {@code nftables}. */
  String name();

  /** What it found on the node that decides how it works, for people; may be empty. */
  default String details() {
    return "";
  }

  /**
   * The policy in the form that this backend stores, so that observed can equal desired.
   *
   * @param observed what this backend saw last, which may affect the form
   */
  Policy normalize(Policy policy, Observed observed);

  /** Reads the agent's rules. */
  Observation observe(Family family);

  /**
   * What is known to be left of our rules where {@link #observe} cannot read them, each a sentence
   * that says how to remove it by hand.
   */
  default List<String> unreadRemains(Family family) {
    return List.of();
  }

  /**
   * Carries out a plan made from an observation by this backend, without a moment in which packets
   * meet half a policy. A plan without a desired policy removes all that is ours.
   */
  Outcome apply(Plan plan);
}
