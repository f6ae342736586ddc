package ipmasq.plan;

import ipmasq.net.Family;
import ipmasq.policy.Policy;
import java.util.List;
import java.util.Optional;

/**
 * The agent's rules for one family, as a backend found them. A value: it does not change when the
 * kernel does.
 */
public interface Observed {
  Family family();

  /** The policy in force, if the rules can be read as one. */
  Optional<Policy> policy();

  /**
   * The policy of our rules alone, if foreign rules among them keep it from being in force: a plan
   * need not add these, though it may have to rewrite them.
   */
  default Optional<Policy> ours() {
    return policy();
  }

  /**
   * What else must be repaired, each a phrase for people: {@code the jump from POSTROUTING is
   * missing}, {@code a rule that is not ours: -A IP-MASQ-AGENT -p tcp -j ACCEPT}.
   */
  List<String> flaws();

  /**
   * What goes with our rules when they are removed, each a phrase for people: {@code a jump from
   * POSTROUTING worded by an older version}.
   */
  default List<String> leftovers() {
    return List.of();
  }

  /** What operators should know but no plan can change, each a sentence. */
  default List<String> remarks() {
    return List.of();
  }

  /** Whether there is nothing to remove, of any version. */
  boolean absent();

  /** The counters of the rules, if the backend counts. */
  default Optional<Tally> tally() {
    return Optional.empty();
  }
}
