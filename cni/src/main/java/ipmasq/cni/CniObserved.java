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
 * @param contents the lists, to detect later whether they changed in between
 * @param mapping the files as they were read
 */
record CniObserved(
    Family family,
    Optional<Policy> policy,
    List<String> flaws,
    boolean absent,
    List<ListContent> contents,
    PolicyMapping mapping,
    List<String> remarks)
    implements Observed {
  CniObserved {
    flaws = List.copyOf(flaws);
    contents = List.copyOf(contents);
    remarks = List.copyOf(remarks);
  }

  CniObserved with(List<String> more) {
    return new CniObserved(family, policy, flaws, absent, contents, mapping, more);
  }

  /** What one list held of this family, and what in it is no block. */
  record ListContent(Path file, Set<Cidr> blocks, List<String> invalid) {}
}
