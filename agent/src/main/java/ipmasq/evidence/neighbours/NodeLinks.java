package ipmasq.evidence.neighbours;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import java.util.ArrayList;
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

  /**
   * What tells packets of pods from others. All lists are sorted and disjoint.
   *
   * @param own what no pod has
   * @param scope the policy's sources; none: any
   */
  record Pods(
      Family family,
      List<Interval> own,
      List<Interval> runtimes,
      List<Interval> others,
      List<Interval> scope) {
    /** Whether some of these sources may be pods that the policy is about. */
    boolean mayHave(Interval sources) {
      return !sources.isWithin(own) && (scope.isEmpty() || sources.meetsAny(scope));
    }

    /** Whether a rule is about the containers of the runtime that owns it, not about pods. */
    boolean isElsewhere(Owner owner, Interval sources) {
      return !owner.usualNetworks().isEmpty()
          && (sources.isWithin(runtimes)
              || !sources.meetsAny(others) && sources.isWithin(of(owner.usualNetworks(), family)));
    }
  }

  Pods pods(Family family, List<Cidr> scope) {
    List<Cidr> all = new ArrayList<>(LOOPBACK);
    all.addAll(own);
    return new Pods(
        family,
        of(all, family),
        of(runtimeNetworks, family),
        of(otherNetworks, family),
        of(scope, family));
  }

  static List<Interval> of(List<Cidr> blocks, Family family) {
    return Interval.merged(
        blocks.stream().filter(it -> it.family() == family).map(Interval::of).toList());
  }
}
