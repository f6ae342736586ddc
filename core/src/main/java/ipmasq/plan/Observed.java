package ipmasq.plan;

import ipmasq.net.Family;
import ipmasq.policy.Policy;
import java.util.List;
import java.util.Optional;

/**
 * What a backend found of ours for one family. A value: it does not change when the kernel does.
 */
public interface Observed {
  Family family();

  /** The policy in force, where what was found can be read as one. */
  Optional<Policy> policy();

  /**
   * The policy of our rules alone, where others' among them keep it from being in force: what a
   * plan need not add, though it may have to be written again.
   */
  default Optional<Policy> ours() {
    return policy();
  }

  /**
   * What else must be repaired, each a phrase for people: {@code the jump from POSTROUTING is
   * missing}, {@code a rule that is not ours: -A IP-MASQ-AGENT -p tcp -j ACCEPT}.
   */
  List<String> flaws();

  /** What people should know and no plan can change, each a sentence. */
  default List<String> remarks() {
    return List.of();
  }

  /** Whether nothing of ours, of whatever version, is there. */
  boolean absent();

  /** What the rules have seen so far, where the backend counts. */
  default Optional<Tally> tally() {
    return Optional.empty();
  }
}
