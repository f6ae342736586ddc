package ipmasq.policy;

import ipmasq.config.Config;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * What the node does to packets of one family, with no trace of iptables or nftables.
 *
 * <p>A packet to one of the node's own addresses, from another source than {@code sources}, or
 * leaving by another interface than {@code interfaces}, is left alone (an empty list: any). Of the
 * {@code destinations} the first that holds the packet's destination decides; where none does, the
 * packet gets the {@code translation}.
 *
 * @param interfaces names of output interfaces; a trailing {@code +} stands for any ending
 */
public record Policy(
    Family family,
    List<Cidr> sources,
    List<String> interfaces,
    List<Destination> destinations,
    Translation translation) {

  public Policy {
    sources = List.copyOf(sources);
    interfaces = List.copyOf(interfaces);
    destinations = List.copyOf(destinations);
  }

  /** A range of destinations and what happens to packets that go there. */
  public record Destination(Cidr range, Treatment treatment) {}

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
    List<Destination> destinations = new ArrayList<>();
    if (!linkLocal) {
      destinations.add(new Destination(family.linkLocal(), Treatment.EXEMPT));
    }
    config.nonMasqueradeCidrs().stream()
        .filter(cidr -> cidr.family() == family)
        .forEach(cidr -> destinations.add(new Destination(cidr, Treatment.EXEMPT)));
    List<Destination> exceptions =
        config.masqueradeCidrs().stream()
            .filter(cidr -> cidr.family() == family)
            .map(cidr -> new Destination(cidr, Treatment.TRANSLATE))
            .toList();
    if (!exceptions.isEmpty()) {
      // First match becomes longest prefix. Without exceptions the file's order stays.
      destinations.addAll(exceptions);
      destinations.sort(Comparator.comparing(d -> -d.range().prefix()));
    }
    return new Policy(
        family,
        config.sourceCidrs().stream().filter(cidr -> cidr.family() == family).toList(),
        config.outputInterfaces(),
        written(family, destinations),
        new Translation(
            config.outputAddresses().stream().filter(range -> range.family() == family).findFirst(),
            config.toPorts(),
            config.randomFully()));
  }

  /**
   * A range that stands twice in the file is written once. The Go agents repeat it; that is kept for
   * IPv6, where the recorded conformance cases hold us to their rules line by line.
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
    return Disjoint.exempt(destinations);
  }

  /** The same decisions, with destinations that do not overlap: what a set can hold. */
  public Policy disjoint() {
    return new Policy(
        family,
        sources,
        interfaces,
        exempt().stream().map(cidr -> new Destination(cidr, Treatment.EXEMPT)).toList(),
        translation);
  }
}
