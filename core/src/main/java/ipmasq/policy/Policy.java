package ipmasq.policy;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import java.util.List;

/**
 * What the node does to packets of one family, with no trace of iptables or nftables.
 *
 * <p>A packet to one of the node's own addresses, from another source than {@code sources}, or
 * leaving by another interface than {@code interfaces}, is left alone (an empty list: any). The
 * first of the {@code destinations} that contains the packet's destination decides; if none does,
 * the packet gets the {@code translation}.
 *
 * @param interfaces names of output interfaces; a trailing {@code +} matches any suffix
 * @param pinned whether exempt packets keep their source even if another program's chain would
 *     translate them
 */
public record Policy(
    Family family,
    Cidrs sources,
    List<String> interfaces,
    Destinations destinations,
    Translation translation,
    boolean pinned) {

  public Policy {
    interfaces = List.copyOf(interfaces);
  }

  /** A policy without pinning, from plain lists. */
  public Policy(
      Family family,
      List<Cidr> sources,
      List<String> interfaces,
      List<Destination> destinations,
      Translation translation) {
    this(
        family,
        Cidrs.copyOf(sources),
        interfaces,
        Destinations.copyOf(destinations),
        translation,
        false);
  }

  /** A range of destinations and what happens to packets that go there. */
  public record Destination(Cidr range, Treatment treatment) {
    /** As in a plan: the range alone, unless it is an exception. */
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

  /** What happens to a packet, and which part of this policy says so. */
  public Verdict verdictFor(Packet packet) {
    if (packet.local()) {
      return new Verdict.LocalDestination();
    }
    if (!sources.isEmpty() && sources.stream().noneMatch(packet::comesFrom)) {
      return new Verdict.OtherSource();
    }
    if (!packet.leavesByOneOf(interfaces)) {
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
  public Cidrs exempt() {
    return Disjoint.exempt(destinations);
  }

  /** The same decisions with disjoint ranges, as a set needs. */
  public Policy disjoint() {
    return new Policy(
        family,
        sources.outermost(),
        interfaces,
        Destinations.exempt(exempt()),
        translation,
        pinned);
  }
}
