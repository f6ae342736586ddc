package ipmasq.cni;

import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.policy.Policy;
import java.util.List;
import java.util.Optional;

/**
 * What the config held of one family.
 *
 * @param config the file as it was read; empty if none has an OutBoundNAT policy
 */
record CniObserved(
    Family family,
    Optional<Policy> policy,
    List<String> flaws,
    boolean absent,
    Optional<CniConfig> config,
    List<String> remarks)
    implements Observed {
  CniObserved {
    flaws = List.copyOf(flaws);
    remarks = List.copyOf(remarks);
  }

  /** Whether another look found the same of this family. */
  boolean matches(CniObserved other) {
    return config.map(CniConfig::path).equals(other.config.map(CniConfig::path))
        && policy.equals(other.policy)
        && list().map(ExceptionList::invalid).equals(other.list().map(ExceptionList::invalid));
  }

  Optional<ExceptionList> list() {
    return config.flatMap(file -> file.list(family));
  }
}
