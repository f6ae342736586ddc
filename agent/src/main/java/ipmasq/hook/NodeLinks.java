package ipmasq.hook;

import ipmasq.net.Cidr;
import ipmasq.net.IpRange;
import java.util.List;

/**
 * The node's interfaces, as far as they tell which rules concern pods.
 *
 * @param names of all but the loopback; empty if unknown
 * @param runtimeNetworks networks of the bridges of other runtimes: Docker, podman, libvirt
 * @param otherNetworks those of all other interfaces, where pods may live
 */
public record NodeLinks(List<String> names, List<Cidr> runtimeNetworks, List<Cidr> otherNetworks) {
  /** Nothing is known. */
  public static final NodeLinks UNKNOWN = new NodeLinks(List.of(), List.of(), List.of());

  public NodeLinks {
    names = List.copyOf(names);
    runtimeNetworks = List.copyOf(runtimeNetworks);
    otherNetworks = List.copyOf(otherNetworks);
  }

  /** Whether a packet may meet a condition about interfaces; others are not judged here. */
  boolean allow(Condition condition) {
    return switch (condition) {
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
  boolean areOf(Owner runtime, AddressRanges sources) {
    if (AddressRanges.ofBlocks(runtimeNetworks).hold(sources) == Truth.YES) {
      return true;
    }
    boolean pods = otherNetworks.stream().anyMatch(it -> sources.hold(IpRange.of(it)) != Truth.NO);
    return !pods && AddressRanges.ofBlocks(runtime.usualNetworks()).hold(sources) == Truth.YES;
  }
}
