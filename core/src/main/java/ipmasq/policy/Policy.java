package ipmasq.policy;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

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
    List<Destination> destinations,
    Translation translation,
    boolean pinned) {

  public Policy {
    interfaces = List.copyOf(interfaces);
    destinations = List.copyOf(destinations);
  }

  /** A policy without pinning, from plain lists. */
  public Policy(
      Family family,
      List<Cidr> sources,
      List<String> interfaces,
      List<Destination> destinations,
      Translation translation) {
    this(family, Cidrs.copyOf(sources), interfaces, destinations, translation, false);
  }

  /** A range of destinations and what happens to packets that go there. */
  public record Destination(Cidr range, Treatment treatment) {
    /** These ranges, all exempt. */
    public static List<Destination> exempt(Collection<Cidr> ranges) {
      return ranges.stream().map(range -> new Destination(range, Treatment.EXEMPT)).toList();
    }

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

  /**
   * The ranges whose packets keep their source address, disjoint and in order; the longest prefix
   * wins. Blocks never overlap in part, so cutting the exceptions out of what encloses them is
   * enough:
   *
   * <pre>
   *   exempt    10.0.0.0/8   |------------------------|
   *   translate 10.1.0.0/16         |------|
   *   exempt    10.1.2.0/24           |-|
   *   exempt in all          |------|  |-|  |---------|
   * </pre>
   */
  public Cidrs exempt() {
    if (destinations.stream().allMatch(each -> each.treatment() == Treatment.EXEMPT)) {
      return Cidrs.copyOf(destinations.stream().map(Destination::range).toList()).outermost();
    }
    TreeMap<Cidr, Treatment> sorted = new TreeMap<>();
    destinations.forEach(each -> sorted.putIfAbsent(each.range(), each.treatment()));
    TreeMap<Ip, Ip> kept = new TreeMap<>(); // from the first to the last address of a range
    sorted.forEach((range, treatment) -> add(range, treatment, kept));
    List<Cidr> blocks = new ArrayList<>();
    kept.forEach((first, last) -> blocks.addAll(new IpRange(first, last).blocks()));
    return Cidrs.copyOf(blocks);
  }

  private static void add(Cidr range, Treatment treatment, TreeMap<Ip, Ip> kept) {
    Map.Entry<Ip, Ip> around = kept.floorEntry(range.first());
    if (around == null || around.getValue().compareTo(range.last()) < 0) {
      if (treatment == Treatment.EXEMPT) {
        kept.put(range.first(), range.last());
      }
    } else if (treatment == Treatment.TRANSLATE) {
      kept.remove(around.getKey());
      if (around.getKey().compareTo(range.first()) < 0) {
        kept.put(around.getKey(), range.first().previous().orElseThrow());
      }
      if (around.getValue().compareTo(range.last()) > 0) {
        kept.put(range.last().next().orElseThrow(), around.getValue());
      }
    }
  }

  /** The same decisions with disjoint ranges, as a set needs. */
  public Policy disjoint() {
    return new Policy(
        family, sources.outermost(), interfaces, Destination.exempt(exempt()), translation, pinned);
  }
}
