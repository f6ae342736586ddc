package ipmasq.cni;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.policy.Policy;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What the files held of one family.
 *
 * @param held the lists, to tell later whether somebody changed them in between
 * @param look the files as they were read
 */
record CniObserved(
    Family family,
    Optional<Policy> policy,
    List<String> flaws,
    boolean absent,
    List<Held> held,
    Look look,
    List<String> remarks)
    implements Observed {
  CniObserved {
    flaws = List.copyOf(flaws);
    held = List.copyOf(held);
    remarks = List.copyOf(remarks);
  }

  CniObserved with(List<String> more) {
    return new CniObserved(family, policy, flaws, absent, held, look, more);
  }

  /** What one list held of this family, and what in it is no block. */
  record Held(Path file, Set<Cidr> blocks, List<String> strays) {}
}
