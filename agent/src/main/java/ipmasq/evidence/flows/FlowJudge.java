package ipmasq.evidence.flows;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.policy.Packet;
import ipmasq.policy.Policy;
import ipmasq.policy.Verdict;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Compares flows with what the policies in force say. Immutable. */
public final class FlowJudge {
  /** Packets with such an address are not forwarded. */
  private static final List<Cidr> NEVER_FORWARDED =
      List.of(
          Cidr.of("0.0.0.0/8"),
          Cidr.of("127.0.0.0/8"),
          Cidr.of("224.0.0.0/4"),
          Cidr.of("255.255.255.255/32"),
          Cidr.of("::/127"),
          Cidr.of("fe80::/10"),
          Cidr.of("ff00::/8"));

  private final Map<Family, Rules> families = new EnumMap<>(Family.class);

  /** The ranges that the policies name, in order, and their lengths, the longest first. */
  private final Cidrs named;

  private final List<Integer> prefixes;

  /**
   * A policy, and its exempt ranges in order: trying 100,000 in turn for each of 2,000 flows would
   * take a second.
   */
  private record Rules(Policy policy, Cidrs exempt) {}

  /** What a flow says about the rules. */
  public enum Judgement {
    AS_CONFIG,
    AGAINST_CONFIG,
    /** Nothing: the policy does not cover it, or does not decide alone. */
    LEFT_OUT
  }

  /**
   * The node that flows are seen on.
   *
   * @param own its addresses, and those that reach it without being its own, such as broadcast
   * @param notPods networks whose hosts are not pods
   */
  public record OwnAddresses(Set<Ip> own, List<Cidr> notPods) {
    public OwnAddresses {
      own = Set.copyOf(own);
      notPods = List.copyOf(notPods);
    }

    /** Whether packets to there stay on the node or the link. */
    boolean keeps(Ip to) {
      return own.contains(to) || isIn(NEVER_FORWARDED, to);
    }
  }

  public FlowJudge(Collection<Policy> policies) {
    List<Cidr> all = new ArrayList<>();
    for (Policy policy : policies) {
      families.put(policy.family(), new Rules(policy, policy.exempt()));
      policy.destinations().forEach(each -> all.add(each.range()));
    }
    all.sort(null);
    named = Cidrs.copyOf(all);
    prefixes = all.stream().map(Cidr::prefix).distinct().sorted(Comparator.reverseOrder()).toList();
  }

  /**
   * Judges a flow whose destination was not changed.
   *
   * @param routes asked only if the answer depends on them
   */
  public Judgement of(SampledFlow flow, OwnAddresses node, Routes routes) {
    Rules rules = families.get(flow.source().family());
    if (rules == null || !isLeavingPod(flow, node, routes)) {
      return Judgement.LEFT_OUT;
    }
    boolean exempt = rules.exempt.holding(flow.destination()).isPresent();
    boolean right = exempt ? !flow.translated() : isTranslatedAs(rules.policy, flow);
    if (!right || !exempt && !rules.policy.interfaces().isEmpty()) {
      Optional<Set<String>> ways = routes.interfaces(flow.ends());
      if (ways.isEmpty()
          || ways.get().stream().anyMatch(way -> leavesAlone(rules.policy, flow, way))
          || !right && !flow.translated() && routes.mayStay(flow.ends())) {
        return Judgement.LEFT_OUT;
      }
    }
    return right ? Judgement.AS_CONFIG : Judgement.AGAINST_CONFIG;
  }

  private static boolean isTranslatedAs(Policy policy, SampledFlow flow) {
    Optional<IpRange> given = policy.translation().addresses();
    return flow.translated() && given.map(range -> range.contains(flow.leftAs())).orElse(true);
  }

  /** Whether packets that leave there are out of the policy's scope. */
  private static boolean leavesAlone(Policy policy, SampledFlow flow, String way) {
    Packet packet = new Packet(flow.source(), flow.destination(), false, way);
    return !policy.interfaces().isEmpty()
        && policy.verdictFor(packet) instanceof Verdict.OtherInterface;
  }

  /** Whether such a flow is a pod's, and leaves the node. */
  boolean isLeavingPod(SampledFlow flow, OwnAddresses node, Routes routes) {
    return !node.keeps(flow.destination()) && isPod(flow.source(), node, routes);
  }

  /** Whether a policy is about packets from there. */
  boolean isPod(Ip source, OwnAddresses node, Routes routes) {
    Rules rules = families.get(source.family());
    if (rules == null || node.own.contains(source)) {
      return false;
    }
    return rules.policy.sources().isEmpty()
        ? !isIn(NEVER_FORWARDED, source)
            && !isIn(node.notPods, source)
            && routes.isBehindNode(source)
        : isIn(rules.policy.sources(), source);
  }

  /** What happens to the source of packets to there: {@code kept}, or which they get. */
  String treatment(Ip destination) {
    Rules rules = families.get(destination.family());
    return rules == null || rules.exempt.holding(destination).isPresent()
        ? "kept"
        : rules.policy.translation().addresses().map(IpRange::toString).orElse("masqueraded");
  }

  boolean translates(Ip destination) {
    return !treatment(destination).equals("kept");
  }

  /** The narrowest range named that holds it; all addresses of its family if none does. */
  Cidr range(Ip destination) {
    for (int prefix : prefixes) {
      if (prefix <= destination.family().bits()) {
        Cidr range = Cidr.around(destination, prefix);
        if (Collections.binarySearch(named, range) >= 0) {
          return range;
        }
      }
    }
    return Cidr.around(destination, 0);
  }

  /** The narrower of the ranges that this and another call a destination by. */
  Cidr range(Ip destination, FlowJudge other) {
    Cidr mine = range(destination);
    Cidr theirs = other.range(destination);
    return mine.prefix() >= theirs.prefix() ? mine : theirs;
  }

  private static boolean isIn(List<Cidr> ranges, Ip ip) {
    return ranges.stream().anyMatch(range -> range.contains(ip));
  }
}
