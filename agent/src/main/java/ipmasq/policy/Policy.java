package ipmasq.policy;

import ipmasq.config.Config;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;

/**
 * What the node does to packets of one family, with no trace of iptables or nftables.
 *
 * <p>A packet to one of the node's own addresses, from another source than {@code sources}, or
 * leaving by another interface than {@code interfaces}, is left alone (an empty list: any). Of the
 * {@code destinations} the first that holds the packet's destination decides; where none does, the
 * packet gets the {@code translation}.
 *
 * @param interfaces names of output interfaces; a trailing {@code +} stands for any ending
 * @param pinned whether exempt packets keep their source even where a chain of others would give
 *     them another one
 */
public record Policy(
    Family family,
    List<Cidr> sources,
    List<String> interfaces,
    List<Destination> destinations,
    Translation translation,
    boolean pinned) {

  public Policy {
    sources = List.copyOf(sources);
    interfaces = List.copyOf(interfaces);
    destinations = List.copyOf(destinations);
  }

  /** One that is not pinned. */
  public Policy(
      Family family,
      List<Cidr> sources,
      List<String> interfaces,
      List<Destination> destinations,
      Translation translation) {
    this(family, sources, interfaces, destinations, translation, false);
  }

  /** A range of destinations and what happens to packets that go there. */
  public record Destination(Cidr range, Treatment treatment) {
    /** As a line of a plan names it: the range alone, unless it is an exception. */
    @Override
    public String toString() {
      return treatment == Treatment.EXEMPT ? range.toString() : "masquerade to " + range;
    }
  }

  /** What happens to a packet. */
  public enum Treatment {
    /** It keeps its source address. */
    EXEMPT,
    /** It gets the node's. */
    TRANSLATE
  }

  /** The policy that a config asks for. */
  public static Policy of(Config config, Family family) {
    boolean linkLocal =
        switch (family) {
          case IPV4 -> config.masqLinkLocal();
          case IPV6 -> config.masqLinkLocalIpv6();
        };
    List<Cidr> sources = of(family, config.sourceCidrs());
    if (sources.isEmpty() && !config.sourceCidrs().isEmpty()) {
      // Sources of the other family only: none of this one's traffic is ours.
      return exemptAll(family);
    }
    List<Destination> destinations = new ArrayList<>();
    if (!linkLocal) {
      destinations.add(new Destination(family.linkLocal(), Treatment.EXEMPT));
    }
    of(family, config.nonMasqueradeCidrs())
        .forEach(cidr -> destinations.add(new Destination(cidr, Treatment.EXEMPT)));
    List<Destination> exceptions =
        of(family, config.masqueradeCidrs()).stream()
            .map(cidr -> new Destination(cidr, Treatment.TRANSLATE))
            .toList();
    if (!exceptions.isEmpty()) {
      // First match becomes longest prefix; without exceptions the file's order stays. What the
      // file
      // says goes before the exemption of link-local that nobody asked for.
      destinations.addAll(0, exceptions);
      destinations.sort(Comparator.comparing(d -> -d.range().prefix()));
    }
    return new Policy(
        family,
        sources,
        config.outputInterfaces(),
        written(family, destinations),
        new Translation(
            config.outputAddresses().stream().filter(range -> range.family() == family).findFirst(),
            config.toPorts(),
            config.randomFully()),
        config.pin());
  }

  private static List<Cidr> of(Family family, List<Cidr> cidrs) {
    return cidrs.stream().filter(cidr -> cidr.family() == family).toList();
  }

  private static Policy exemptAll(Family family) {
    return new Policy(
        family,
        List.of(),
        List.of(),
        List.of(new Destination(family.all(), Treatment.EXEMPT)),
        new Translation(Optional.empty(), List.of(), false));
  }

  /**
   * A range that stands twice in the file is written once. The Go agents repeat it; that is kept
   * for IPv6, where the recorded conformance cases hold us to their rules line by line.
   */
  private static List<Destination> written(Family family, List<Destination> destinations) {
    return switch (family) {
      case IPV4 -> List.copyOf(new LinkedHashSet<>(destinations));
      case IPV6 -> destinations;
    };
  }

  /** What happens to a packet, and which part of this policy says so. */
  public Verdict verdictFor(Packet packet) {
    if (packet.local()) {
      return new Verdict.LocalDestination();
    }
    if (!sources.isEmpty() && sources.stream().noneMatch(packet::comesFrom)) {
      return new Verdict.OtherSource();
    }
    if (!interfaces.isEmpty() && interfaces.stream().noneMatch(packet::leavesBy)) {
      return new Verdict.OtherInterface();
    }
    for (Destination destination : destinations) {
      if (destination.range().contains(packet.destination())) {
        return switch (destination.treatment()) {
          case EXEMPT -> new Verdict.Exempt(destination.range());
          case TRANSLATE -> new Verdict.Exception(destination.range(), translation);
        };
      }
    }
    return new Verdict.Outbound(translation);
  }

  /** The ranges whose packets keep their source address, disjoint and in order. */
  public List<Cidr> exempt() {
    return Disjoint.exempt(destinations).stream().map(Destination::range).toList();
  }

  /** The same decisions, with ranges that do not overlap: what a set can hold. */
  public Policy disjoint() {
    return new Policy(
        family,
        Disjoint.exempt(
                sources.stream().map(cidr -> new Destination(cidr, Treatment.EXEMPT)).toList())
            .stream()
            .map(Destination::range)
            .toList(),
        interfaces,
        Disjoint.exempt(destinations),
        translation,
        pinned);
  }
}
