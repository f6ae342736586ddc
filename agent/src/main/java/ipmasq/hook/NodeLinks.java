package ipmasq.hook;

import ipmasq.net.Cidr;
import ipmasq.net.IpRange;
import java.util.List;

/**
 * The node's interfaces, as far as they tell which rules concern pods.
 *
 * @param names of all but the loopback; empty if unknown
 * @param own its addresses, which no pod has
 * @param runtimeNetworks networks of the bridges of other runtimes: Docker, podman, libvirt
 * @param otherNetworks those of all other interfaces, where pods may live
 */
public record NodeLinks(
    List<String> names, List<Cidr> own, List<Cidr> runtimeNetworks, List<Cidr> otherNetworks) {
  private static final List<Cidr> LOOPBACK = List.of(Cidr.of("127.0.0.0/8"), Cidr.of("::1/128"));

  /** Nothing is known. */
  public static final NodeLinks UNKNOWN = new NodeLinks(List.of(), List.of(), List.of(), List.of());

  public NodeLinks {
    names = List.copyOf(names);
    own = List.copyOf(own);
    runtimeNetworks = List.copyOf(runtimeNetworks);
    otherNetworks = List.copyOf(otherNetworks);
  }

  /** Whether a rule may decide on packets of pods, as far as interfaces and sources tell. */
  public boolean mayConcernPods(Decision decision) {
    return decision.provided().stream().allMatch(this::allow) && !isElsewhere(decision);
  }

  /** A runtime's rule for its own bridge is about its containers, not about pods. */
  boolean isElsewhere(Decision decision) {
    if (decision.owner().elsewhere()) {
      for (Condition condition : decision.provided()) {
        if (condition instanceof Condition.Source(var ranges)) {
          return areOf(decision.owner(), ranges);
        }
      }
    }
    return false;
  }

  /** Whether a pod's packet may meet a condition about interfaces or sources. */
  boolean allow(Condition condition) {
    return switch (condition) {
      case Condition.Source(var sources) ->
          AddressRanges.ofBlocks(LOOPBACK).hold(sources) != Truth.YES
              && AddressRanges.ofBlocks(own).hold(sources) != Truth.YES;
      case Condition.Out(var wanted) -> has(wanted);
      case Condition.In(var wanted) -> has(wanted);
      case Condition.AnyOf(var alternatives, var _) ->
          alternatives.stream().anyMatch(all -> all.stream().allMatch(this::allow));
      default -> true;
    };
  }

  private boolean has(List<String> wanted) {
    return names.isEmpty() || Condition.by(names, wanted) != Truth.NO;
  }

  /** Whether the hosts of these networks belong to another runtime. */
  private boolean areOf(Owner runtime, AddressRanges sources) {
    if (AddressRanges.ofBlocks(runtimeNetworks).hold(sources) == Truth.YES) {
      return true;
    }
    boolean pods = otherNetworks.stream().anyMatch(it -> sources.hold(IpRange.of(it)) != Truth.NO);
    return !pods && AddressRanges.ofBlocks(runtime.usualNetworks()).hold(sources) == Truth.YES;
  }
}
