package ipmasq.hook;

import java.util.List;
import java.util.Map;

/**
 * A chain that the hook calls, with those that it leads to.
 *
 * @param name for people: {@code iptables-nft POSTROUTING}, {@code table ip mine chain post}
 * @param entry the name of the chain itself
 * @param chains by name; one that is missing here is not known
 */
public record BaseChain(String name, int priority, String entry, Map<String, List<Rule>> chains) {
  /** What every chain of iptables runs at. */
  public static final int IPTABLES_PRIORITY = 100;

  public BaseChain {
    chains = Map.copyOf(chains);
  }
}
