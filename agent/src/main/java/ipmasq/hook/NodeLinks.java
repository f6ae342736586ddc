package ipmasq.hook;

import ipmasq.net.Cidr;
import java.util.List;

/**
 * The node's interfaces, as far as they tell which rules concern pods.
 *
 * @param names of all but the loopback; empty if unknown
 * @param podNetworks networks that no other runtime has, and where pods may live
 */
public record NodeLinks(List<String> names, List<Cidr> podNetworks) {
  /** Nothing is known. */
  public static final NodeLinks UNKNOWN = new NodeLinks(List.of(), List.of());

  public NodeLinks {
    names = List.copyOf(names);
    podNetworks = List.copyOf(podNetworks);
  }

  /** Whether packets may leave by one of these names; a trailing {@code +} matches any suffix. */
  boolean has(List<String> wanted) {
    return names.isEmpty() || Condition.by(names, wanted) != Truth.NO;
  }
}
