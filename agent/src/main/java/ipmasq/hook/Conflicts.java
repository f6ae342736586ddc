package ipmasq.hook;

import ipmasq.hook.Conflict.ConflictKind;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the rules that override the config, by walking packets of every kind through the hook.
 *
 * <p>Destinations that no rule distinguishes are treated alike. Each such part of the address space
 * is judged: its exempt destinations and the others.
 */
public final class Conflicts {
  private static final int RANGES_NAMED = 4;

  /** More rules of one owner that do the same are one conflict. */
  private static final int TOLD_EACH = 5;

  /**
   * At most this many rules are evaluated in all; the rest is not judged, and the report says so.
   */
  private static final int MOST_STEPS = 2_000_000;

  private final Hook hook;
  private final Policy policy;
  private final List<Cidr> exempt; // sorted and disjoint
  private final NodeLinks links;
  private final Map<Group, Map<RuleInChain, Found>> found = new LinkedHashMap<>();

  /** Rules of one owner that do the same. */
  private record Group(ConflictKind kind, Owner owner) {}

  private record RuleInChain(String base, Rule rule) {}

  /**
   * A rule that overrides the config.
   *
   * @param ranges some of the exempt ranges that it affects
   */
  private record Found(Decision first, Set<Cidr> ranges) {}

  private Conflicts(Hook hook, Policy policy, NodeLinks links) {
    this.hook = hook;
    this.policy = policy;
    this.links = links;
    this.exempt = policy.exempt();
  }

  /**
   * @param policy what the config asks for
   */
  public static List<Conflict> in(Hook hook, Policy policy, NodeLinks links) {
    Conflicts conflicts = new Conflicts(hook, policy, links);
    conflicts.judge();
    return conflicts.list();
  }

  /** Ranges that no router forwards. */
  private static List<String> nowhere(Family family) {
    return switch (family) {
      case IPV4 -> List.of("0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/4", "255.255.255.255/32");
      case IPV6 -> List.of("::/127", "fe80::/10", "ff00::/8");
    };
  }

  private void judge() {
    Flow any = Flow.to(IpRange.of(hook.family().all()));
    List<Rule> rules =
        hook.chainsFor(any).stream().flatMap(chain -> chain.rules().stream()).toList();
    List<Cidr> unforwarded = nowhere(hook.family()).stream().map(Cidr::of).toList();
    List<IpRange> parts = AddressParts.of(hook, rules, unforwarded);
    AddressRanges nowhere = AddressRanges.ofBlocks(unforwarded);
    Flow ours = any.from(policy.sources()).via(policy.interfaces());
    long steps = 0;
    for (IpRange part : parts) {
      steps += rules.size();
      if (steps > MOST_STEPS) {
        add(ConflictKind.UNCLEAR, tooMany(rules.size(), parts.size()));
        return;
      }
      List<Cidr> inside = new ArrayList<>();
      boolean all = isExempt(part, inside);
      if (!inside.isEmpty()) {
        exempt(ours.to(part, Treatment.EXEMPT), inside);
      }
      if (!all && nowhere.hold(part) != Truth.YES) {
        outbound(ours.to(part, Treatment.TRANSLATE));
      }
    }
  }

  private Decision tooMany(int rules, int parts) {
    String text = rules + " rules and " + parts + " ranges of destinations: not all were judged";
    BaseChain base = BaseChain.unreadable("all chains", HookPoint.POSTROUTING, 0, text);
    return new Decision(
        base, base.rules().getFirst(), Decision.DecisionKind.UNCLEAR, false, List.of());
  }

  /** Judges packets that should keep their source. */
  private void exempt(Flow flow, List<Cidr> ranges) {
    for (Decision decision : decisions(flow)) {
      switch (decision.kind()) {
        case TRANSLATED -> name(add(kind(decision), decision), ranges);
        case UNCLEAR -> name(add(ConflictKind.UNCLEAR, decision), ranges);
        case DROPPED -> drops(decision).ifPresent(rule -> name(rule, ranges));
        case OURS, PINNED, KEPT, SHIELDED, REDIRECTED -> {}
      }
    }
  }

  /** Without rules for interfaces that do not exist, or for sources that no pod has. */
  private List<Decision> decisions(Flow flow) {
    return hook.decisions(flow).stream()
        .filter(decision -> decision.provided().stream().allMatch(links::allow))
        .toList();
  }

  private static void name(Found rule, List<Cidr> ranges) {
    for (Cidr range : ranges) {
      if (rule.ranges.size() < RANGES_NAMED) {
        rule.ranges.add(range);
      }
    }
  }

  /** Whether a part is exempt as a whole; collects a few of the exempt ranges in it. */
  private boolean isExempt(IpRange part, List<Cidr> few) {
    int at = firstNotBefore(part.first());
    Optional<Ip> covered = Optional.of(part.first()); // exclusive; empty: the end
    boolean whole = true;
    while (at < exempt.size() && exempt.get(at).first().compareTo(part.last()) <= 0) {
      Cidr range = exempt.get(at++);
      whole &= covered.isPresent() && range.first().compareTo(covered.get()) <= 0;
      covered = range.last().next();
      if (few.size() < RANGES_NAMED) {
        few.add(range);
      } else if (!whole) {
        return false;
      }
    }
    return whole
        && !few.isEmpty()
        && covered.map(next -> next.compareTo(part.last()) > 0).orElse(true);
  }

  private int firstNotBefore(Ip ip) {
    int low = 0;
    int high = exempt.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (exempt.get(middle).last().compareTo(ip) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private ConflictKind kind(Decision decision) {
    if (!decision.understood()) {
      return ConflictKind.UNCLEAR;
    }
    return isElsewhere(decision) ? ConflictKind.ELSEWHERE : ConflictKind.MASQUERADES;
  }

  private boolean isElsewhere(Decision decision) {
    return policy.sources().isEmpty() && links.isElsewhere(decision);
  }

  /** Judges packets that our rules should translate. */
  private void outbound(Flow flow) {
    Translation wanted = policy.translation();
    boolean particular = wanted.addresses().isPresent() || !wanted.ports().isEmpty();
    List<Decision> decisions = decisions(flow);
    Optional<Decision> last =
        decisions.isEmpty() || !decisions.getLast().certain()
            ? Optional.empty()
            : Optional.of(decisions.getLast());
    boolean translatedAnyhow =
        last.filter(d -> d.kind() == Decision.DecisionKind.TRANSLATED && d.understood())
            .isPresent();
    for (Decision decision : decisions) {
      switch (decision.kind()) {
        case SHIELDED -> {
          if (!translatedAnyhow && !isElsewhere(decision)) {
            add(
                decision.understood() ? ConflictKind.SHIELDS : ConflictKind.UNCLEAR_SHIELD,
                decision);
          }
        }
        case KEPT -> {
          if (!isElsewhere(decision)) {
            add(decision.understood() ? ConflictKind.KEEPS : ConflictKind.UNCLEAR_SHIELD, decision);
          }
        }
        case TRANSLATED -> {
          if (particular
              && decision.understood()
              && !isElsewhere(decision)
              && !asWanted(decision)) {
            add(ConflictKind.PRECEDES, decision);
          }
        }
        case DROPPED -> drops(decision);
        case UNCLEAR -> {
          if (!translatedAnyhow) {
            add(ConflictKind.UNCLEAR_SHIELD, decision);
          }
        }
        case OURS, PINNED, REDIRECTED -> {}
      }
    }
  }

  /** Whether another program's rule gives packets an address that the config asks for. */
  private boolean asWanted(Decision decision) {
    Optional<IpRange> wanted = policy.translation().addresses();
    return policy.translation().ports().isEmpty()
        && wanted.isPresent()
        && decision.rule().action() instanceof Action.Translate(var _, var to)
        && to.map(range -> AddressRanges.of(wanted.get()).hold(range) == Truth.YES).orElse(false);
  }

  /** A nat chain is no place to drop packets, so one that does is worth a look. */
  private Optional<Found> drops(Decision decision) {
    return decision.understood() && !isElsewhere(decision)
        ? Optional.of(add(ConflictKind.DROPS, decision))
        : Optional.empty();
  }

  private Found add(ConflictKind kind, Decision decision) {
    return found
        .computeIfAbsent(new Group(kind, decision.owner()), _ -> new LinkedHashMap<>())
        .computeIfAbsent(
            new RuleInChain(decision.base().name(), decision.rule()),
            _ -> new Found(decision, new LinkedHashSet<>()));
  }

  /** Each rule by itself, but the many of one owner, as for every pod, as one example. */
  private List<Conflict> list() {
    List<Conflict> conflicts = new ArrayList<>();
    found.forEach(
        (group, all) -> {
          List<Found> rules = List.copyOf(all.values());
          if (rules.size() <= TOLD_EACH) {
            rules.forEach(rule -> conflicts.add(conflict(group, rule, rule.ranges, 1)));
          } else {
            Set<Cidr> ranges = new LinkedHashSet<>();
            rules.forEach(rule -> ranges.addAll(rule.ranges));
            conflicts.add(conflict(group, rules.getFirst(), ranges, rules.size()));
          }
        });
    return conflicts;
  }

  private Conflict conflict(Group group, Found example, Set<Cidr> ranges, int rules) {
    return new Conflict(
        hook.family(),
        group.kind(),
        group.owner(),
        example.first.rule().text(),
        example.first.base().name(),
        example.first.packets(),
        ranges.stream().limit(RANGES_NAMED).toList(),
        rules);
  }
}
