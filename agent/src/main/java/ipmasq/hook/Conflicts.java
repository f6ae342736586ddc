package ipmasq.hook;

import ipmasq.hook.Conflict.Kind;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import ipmasq.policy.Translation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Finds the rules that decide against us, by sending packets of all kinds on the walk. */
public final class Conflicts {
  /** The widest ranges say it all; a hundred thousand of them would only take longer. */
  private static final int MOST_RANGES = 64;

  /** More sources than these are too many to follow one by one: then packets come from anywhere. */
  private static final int MOST_SOURCES = 64;

  private static final List<String> OUTSIDE_V4 =
      List.of("8.8.8.8", "1.1.1.1", "93.184.215.14", "203.0.113.1");
  private static final List<String> OUTSIDE_V6 =
      List.of("2001:4860:4860::8888", "2606:4700::1111", "2a00:1450::1");

  private final Hook hook;
  private final Policy policy;
  private final Map<Group, Found> found = new LinkedHashMap<>();

  /** Rules of one owner that do the same are one conflict. */
  private record Group(Kind kind, Owner owner) {}

  private static final class Found {
    private final Decision first;
    private final Set<Rule> rules = new HashSet<>();
    private final Set<Cidr> ranges = new LinkedHashSet<>();

    Found(Decision first) {
      this.first = first;
    }
  }

  private Conflicts(Hook hook, Policy policy) {
    this.hook = hook;
    this.policy = policy;
  }

  /**
   * @param policy what the config asks for
   */
  public static List<Conflict> in(Hook hook, Policy policy) {
    Conflicts conflicts = new Conflicts(hook, policy);
    conflicts.ranges();
    conflicts.outbound();
    return conflicts.list();
  }

  private void ranges() {
    List<Cidr> exempt = new ArrayList<>(policy.exempt());
    exempt.sort(Comparator.comparingInt(Cidr::prefix));
    for (Cidr range : exempt.subList(0, Math.min(exempt.size(), MOST_RANGES))) {
      for (Decision decision : hook.decisions(ours(Flow.to(range)))) {
        switch (decision.kind()) {
          case TRANSLATED -> add(kind(decision), decision).ranges.add(range);
          case UNCLEAR -> add(Kind.UNCLEAR, decision).ranges.add(range);
          case OURS, PINNED, KEPT, SHIELDED, DROPPED -> {}
        }
      }
    }
  }

  /** Packets of others are none of our business: these are such as the config speaks of. */
  private Flow ours(Flow flow) {
    Flow some = policy.sources().size() > MOST_SOURCES ? flow : flow.from(policy.sources());
    return some.via(policy.interfaces());
  }

  private static Kind kind(Decision decision) {
    if (!decision.understood()) {
      return Kind.UNCLEAR;
    }
    return Owner.of(decision.base(), decision.rule()).elsewhere()
        ? Kind.ELSEWHERE
        : Kind.MASQUERADES;
  }

  /** Packets that are ours to translate. */
  private void outbound() {
    Translation wanted = policy.translation();
    boolean particular = wanted.addresses().isPresent() || !wanted.ports().isEmpty();
    for (String text : hook.family() == Family.IPV4 ? OUTSIDE_V4 : OUTSIDE_V6) {
      Ip address = Ip.of(text);
      if (policy.exempt().stream().anyMatch(range -> range.contains(address))) {
        continue;
      }
      for (Decision decision : hook.decisions(ours(Flow.to(address)))) {
        switch (decision.kind()) {
          case OURS -> {
            return;
          }
          case SHIELDED -> {
            if (decision.understood()) {
              add(Kind.SHIELDS, decision);
            }
          }
          case TRANSLATED -> {
            if (particular && decision.understood()) {
              add(Kind.PRECEDES, decision);
            }
          }
          case PINNED, KEPT, DROPPED, UNCLEAR -> {}
        }
      }
      return;
    }
  }

  private Found add(Kind kind, Decision decision) {
    Owner owner = Owner.of(decision.base(), decision.rule());
    Found group = found.computeIfAbsent(new Group(kind, owner), _ -> new Found(decision));
    group.rules.add(decision.rule());
    return group;
  }

  private List<Conflict> list() {
    List<Conflict> conflicts = new ArrayList<>();
    found.forEach(
        (group, found) ->
            conflicts.add(
                new Conflict(
                    hook.family(),
                    group.kind(),
                    group.owner(),
                    found.first.rule().text(),
                    found.first.base().name(),
                    found.first.packets(),
                    List.copyOf(found.ranges),
                    found.rules.size())));
    return conflicts;
  }
}
