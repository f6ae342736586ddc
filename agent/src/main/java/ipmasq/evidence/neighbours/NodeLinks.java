package ipmasq.evidence.neighbours;

import ipmasq.net.Cidr;
import java.util.List;

/**
 * The node's interfaces, as far as they tell which rules concern pods.
 *
 * @param names of all but the loopback
 * @param own its addresses, which no pod has
 * @param runtimeNetworks networks of the bridges of other runtimes: Docker, podman, libvirt
 * @param otherNetworks those of all other interfaces, where pods may live
 */
public record NodeLinks(
    List<String> names, List<Cidr> own, List<Cidr> runtimeNetworks, List<Cidr> otherNetworks) {
  private static final List<Cidr> LOOPBACK = List.of(Cidr.of("127.0.0.0/8"), Cidr.of("::1/128"));

  public NodeLinks {
    names = List.copyOf(names);
    own = List.copyOf(own);
    runtimeNetworks = List.copyOf(runtimeNetworks);
    otherNetworks = List.copyOf(otherNetworks);
  }

  /** Packets from a pod that leave by any interface. */
  Packets ofPods(Packets packets) {
    Ranges sources = packets.get(Packets.Field.SOURCE);
    for (List<Cidr> others : List.of(LOOPBACK, own)) {
      sources =
          sources.minus(
              Ranges.of(others.stream().filter(it -> it.family() == packets.family()).toList()));
    }
    return packets.with(Packets.Field.SOURCE, sources);
  }

  /** Whether a rule is about the containers of the runtime that owns it, not about pods. */
  boolean isElsewhere(Owner owner, Packets packets) {
    if (!owner.elsewhere()) {
      return false;
    }
    Ranges sources = packets.get(Packets.Field.SOURCE);
    if (sources.within(of(runtimeNetworks, packets))) {
      return true;
    }
    return !sources.meets(of(otherNetworks, packets))
        && sources.within(of(owner.usualNetworks(), packets));
  }

  private static Ranges of(List<Cidr> blocks, Packets packets) {
    return Ranges.of(blocks.stream().filter(it -> it.family() == packets.family()).toList());
  }
}
