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
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

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

  private static final int MOST_RANGES = 20;

  private final Map<Family, JudgedPolicy> families = new EnumMap<>(Family.class);

  /**
   * A policy, and its exempt ranges in order: trying 100,000 in turn for each of 2,000 flows would
   * take a second.
   */
  private record JudgedPolicy(Policy policy, Cidrs exempt) {}

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
  }

  public FlowJudge(Collection<Policy> policies) {
    for (Policy policy : policies) {
      families.put(policy.family(), new JudgedPolicy(policy, policy.exempt()));
    }
  }

  /**
   * Judges a flow whose destination was not changed.
   *
   * @param routes asked only if the answer depends on them
   */
  public Judgement of(SampledFlow flow, OwnAddresses node, Routes routes) {
    JudgedPolicy rules = families.get(flow.source().family());
    if (rules == null || !isLeavingPod(flow, node, routes)) {
      return Judgement.LEFT_OUT;
    }
    Ip to = flow.destination();
    boolean exempt = rules.exempt.holding(to).isPresent();
    boolean right = exempt ? !flow.translated() : isTranslatedAs(rules.policy, flow);
    if (right && (exempt || rules.policy.interfaces().isEmpty())) {
      return Judgement.AS_CONFIG;
    }
    Optional<Set<String>> ways = routes.interfaces(flow.ends());
    if (ways.isEmpty() || ways.get().stream().anyMatch(way -> leavesAlone(rules, flow, way))) {
      return Judgement.LEFT_OUT;
    }
    if (!right && !flow.translated() && routes.mayStay(flow.ends())) {
      return Judgement.LEFT_OUT;
    }
    return right ? Judgement.AS_CONFIG : Judgement.AGAINST_CONFIG;
  }

  /** Whether such a flow is a pod's, and leaves the node. */
  boolean isLeavingPod(SampledFlow flow, OwnAddresses node, Routes routes) {
    JudgedPolicy rules = families.get(flow.source().family());
    return rules != null
        && !staysHere(flow.destination(), node)
        && isPod(flow.source(), rules.policy, node, routes);
  }

  /** What happens to the source of packets to there: {@code kept}, or which they get. */
  String treatment(Ip destination) {
    JudgedPolicy rules = families.get(destination.family());
    return rules == null || rules.exempt.holding(destination).isPresent()
        ? "kept"
        : rules.policy.translation().addresses().map(IpRange::toString).orElse("masqueraded");
  }

  boolean translates(Ip destination) {
    return !treatment(destination).equals("kept");
  }

  /** The share of answered flows by range, busiest first. */
  public List<AnsweredRange> answered(Answers answers) {
    DestinationRanges names = ranges(this);
    List<AnsweredRange> ranges = new ArrayList<>();
    answers
        .by(
            target ->
                Optional.of(
                    new AnsweredRange(
                        names.of(target.destination()),
                        target.protocol(),
                        target.translated(),
                        Answers.Share.NONE)))
        .forEach((range, share) -> ranges.add(range.with(share)));
    ranges.sort(Comparator.comparingInt((AnsweredRange r) -> -r.share().flows()));
    return ranges.subList(0, Math.min(ranges.size(), MOST_RANGES));
  }

  /** The ranges that these policies name, or others do. */
  DestinationRanges ranges(FlowJudge other) {
    return new DestinationRanges(
        Stream.of(this, other)
            .flatMap(judge -> judge.families.values().stream())
            .map(JudgedPolicy::policy)
            .toList());
  }

  /** The exempt range that holds a destination. */
  Optional<Cidr> range(Ip destination) {
    return Optional.ofNullable(families.get(destination.family()))
        .flatMap(rules -> rules.exempt.holding(destination));
  }

  /** Whether the policy is about packets from there. */
  static boolean isPod(Ip source, Policy policy, OwnAddresses node, Routes routes) {
    return policy.sources().isEmpty()
        ? !node.own.contains(source)
            && !isIn(NEVER_FORWARDED, source)
            && !isIn(node.notPods, source)
            && routes.isBehindNode(source)
        : isIn(policy.sources(), source) && !node.own.contains(source);
  }

  private static boolean isTranslatedAs(Policy policy, SampledFlow flow) {
    return flow.translated()
        && policy
            .translation()
            .addresses()
            .map(range -> range.contains(flow.leftAs()))
            .orElse(true);
  }

  /** Whether packets that leave there are out of the policy's scope. */
  private static boolean leavesAlone(JudgedPolicy rules, SampledFlow flow, String way) {
    if (rules.policy.interfaces().isEmpty()) {
      return false;
    }
    Packet packet = new Packet(flow.source(), flow.destination(), false, way);
    return rules.policy.verdictFor(packet) instanceof Verdict.OtherInterface;
  }

  /** Whether packets to there stay on the node or the link. */
  static boolean staysHere(Ip to, OwnAddresses node) {
    return node.own.contains(to) || isIn(NEVER_FORWARDED, to);
  }

  private static boolean isIn(List<Cidr> ranges, Ip ip) {
    return ranges.stream().anyMatch(range -> range.contains(ip));
  }
}
