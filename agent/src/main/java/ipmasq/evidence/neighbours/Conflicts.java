package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Packets.Field;
import ipmasq.evidence.neighbours.Rule.Hooks;
import ipmasq.evidence.neighbours.Rule.Placed;
import ipmasq.evidence.neighbours.Walk.Leaf;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.Protocols;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the rules that override the config, by following packets of every kind that the rules tell
 * apart: those to exempt destinations, and the others. How many ranges the config has does not
 * matter.
 */
final class Conflicts {
  private static final int RANGES_NAMED = 4;

  /** More rules of one owner that do the same are one conflict. */
  private static final int REPORTED_EACH = 5;

  private final Policy policy;
  private final NodeLinks links;
  private final List<Cidr> exempt; // sorted and disjoint
  private final Packets any;
  private final Map<Group, Map<Placed, Found>> found = new LinkedHashMap<>();

  /** Rules of one owner that do the same. */
  private record Group(Conflict.Kind kind, Owner owner) {}

  /** The packets that a rule affects, and some of the exempt ranges among them. */
  private static final class Found {
    private final Set<Cidr> ranges = new LinkedHashSet<>();
    private Packets packets;

    Found(Packets packets) {
      this.packets = packets;
    }

    void and(Packets more) {
      for (Field field : Field.values()) {
        packets = packets.with(field, packets.get(field).or(more.get(field)));
      }
      Set<String> out = new LinkedHashSet<>(packets.out());
      out.addAll(more.out());
      packets = packets.through(packets.in(), List.copyOf(out));
    }
  }

  private Conflicts(Policy policy, NodeLinks links) {
    this.policy = policy;
    this.links = links;
    this.exempt = policy.exempt();
    List<String> names = links.names().isEmpty() ? List.of("") : links.names(); // some interface
    Packets all = links.ofPods(Packets.any(policy.family(), Treatment.EXEMPT, names));
    if (!policy.sources().isEmpty()) {
      all = all.with(Field.SOURCE, all.get(Field.SOURCE).and(Ranges.of(policy.sources())));
    }
    if (!policy.interfaces().isEmpty()) {
      all = all.through(all.in(), Packets.named(all.out(), policy.interfaces(), true));
    }
    this.any = all;
  }

  /**
   * @param policy what the config asks for
   */
  static List<Conflict> in(Hooks hooks, Policy policy, NodeLinks links) {
    Conflicts conflicts = new Conflicts(policy, links);
    if (!conflicts.any.out().isEmpty() && !conflicts.any.get(Field.SOURCE).isEmpty()) {
      Packets outbound =
          conflicts.any.with(
              Field.DESTINATION,
              conflicts.any.get(Field.DESTINATION).minus(nowhere(policy.family())));
      conflicts.judge(hooks, conflicts.any);
      conflicts.judge(hooks, outbound.treated(Treatment.TRANSLATE));
    }
    return conflicts.list();
  }

  /** Ranges that no router forwards. */
  private static Ranges nowhere(Family family) {
    List<String> blocks =
        switch (family) {
          case IPV4 -> List.of("0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/4", "255.255.255.255/32");
          case IPV6 -> List.of("::/127", "fe80::/10", "ff00::/8");
        };
    return Ranges.of(blocks.stream().map(Cidr::of).toList());
  }

  private void judge(Hooks hooks, Packets packets) {
    if (!exist(packets)) {
      return;
    }
    for (Leaf leaf : Walk.of(hooks, packets, this::exist, Walk.MOST_VISITS_OF_ALL)) {
      if (leaf.by().isPresent()) {
        Placed by = leaf.by().get();
        boolean elsewhere =
            policy.sources().isEmpty() && links.isElsewhere(by.owner(), leaf.packets());
        switch (packets.treatment()) {
          case EXEMPT -> exempt(leaf, by, elsewhere);
          case TRANSLATE -> outbound(leaf, by, elsewhere);
        }
      }
    }
  }

  /** Whether there are destinations of this treatment among these. */
  private boolean exist(Packets packets) {
    for (Ranges.Range range : packets.get(Field.DESTINATION).list()) {
      IpRange addresses = Ranges.addresses(range, policy.family());
      int at = firstNotBefore(addresses.first());
      switch (packets.treatment()) {
        case EXEMPT -> {
          if (at < exempt.size() && exempt.get(at).first().compareTo(addresses.last()) <= 0) {
            return true;
          }
        }
        case TRANSLATE -> {
          if (!isExempt(addresses, at)) {
            return true;
          }
        }
      }
    }
    return false;
  }

  /** Whether exempt ranges from this one on cover all of these addresses. */
  private boolean isExempt(IpRange addresses, int from) {
    Optional<Ip> next = Optional.of(addresses.first());
    for (int at = from; at < exempt.size(); at++) {
      if (next.isEmpty() || next.get().compareTo(addresses.last()) > 0) {
        return true;
      }
      if (exempt.get(at).first().compareTo(next.get()) > 0) {
        return false;
      }
      next = exempt.get(at).last().next();
    }
    return next.isEmpty() || next.get().compareTo(addresses.last()) > 0;
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

  /** Packets that should keep their source. */
  private void exempt(Leaf leaf, Placed by, boolean elsewhere) {
    switch (leaf.kind()) {
      case TRANSLATED ->
          name(
              leaf.certain()
                  ? elsewhere ? Conflict.Kind.ELSEWHERE : Conflict.Kind.MASQUERADES
                  : Conflict.Kind.UNCLEAR,
              leaf,
              by);
      case UNCLEAR -> name(Conflict.Kind.UNCLEAR, leaf, by);
      case DROPPED -> {
        if (by.nat() && leaf.certain() && !elsewhere) {
          name(Conflict.Kind.DROPS, leaf, by);
        }
      }
      case OURS, PINNED, KEPT, PASSED, REDIRECTED -> {}
    }
  }

  /** Packets that our rules should translate. */
  private void outbound(Leaf leaf, Placed by, boolean elsewhere) {
    Translation wanted = policy.translation();
    boolean particular = wanted.addresses().isPresent() || !wanted.ports().isEmpty();
    if (elsewhere) {
      return;
    }
    switch (leaf.kind()) {
      case PASSED -> add(certainly(leaf, Conflict.Kind.SHIELDS), leaf, by);
      case KEPT -> add(certainly(leaf, Conflict.Kind.KEEPS), leaf, by);
      case UNCLEAR -> add(Conflict.Kind.UNCLEAR_SHIELD, leaf, by);
      case TRANSLATED -> {
        if (particular && leaf.certain() && !asWanted(leaf)) {
          add(Conflict.Kind.PRECEDES, leaf, by);
        }
      }
      case DROPPED -> {
        if (by.nat() && leaf.certain()) { // a nat chain is no place to drop packets
          add(Conflict.Kind.DROPS, leaf, by);
        }
      }
      case OURS, PINNED, REDIRECTED -> {}
    }
  }

  private static Conflict.Kind certainly(Leaf leaf, Conflict.Kind kind) {
    return leaf.certain() ? kind : Conflict.Kind.UNCLEAR_SHIELD;
  }

  /** Whether another program's rule gives packets an address that the config asks for. */
  private boolean asWanted(Leaf leaf) {
    Optional<IpRange> wanted = policy.translation().addresses();
    Optional<IpRange> to = leaf.how().flatMap(Step.Translate::to);
    return policy.translation().ports().isEmpty()
        && wanted.isPresent()
        && to.isPresent()
        && Ranges.of(to.get()).within(Ranges.of(wanted.get()));
  }

  private Found add(Conflict.Kind kind, Leaf leaf, Placed by) {
    Found rule =
        found
            .computeIfAbsent(new Group(kind, by.owner()), _ -> new LinkedHashMap<>())
            .computeIfAbsent(by, _ -> new Found(leaf.packets()));
    rule.and(leaf.packets());
    return rule;
  }

  /** The same, with a few of the exempt ranges that it affects. */
  private void name(Conflict.Kind kind, Leaf leaf, Placed by) {
    Found rule = add(kind, leaf, by);
    for (Ranges.Range range : leaf.packets().get(Field.DESTINATION).list()) {
      IpRange addresses = Ranges.addresses(range, policy.family());
      for (int at = firstNotBefore(addresses.first());
          at < exempt.size()
              && rule.ranges.size() < RANGES_NAMED
              && exempt.get(at).first().compareTo(addresses.last()) <= 0;
          at++) {
        rule.ranges.add(exempt.get(at));
      }
    }
  }

  /** Each rule by itself, but the many of one owner, as for every pod, as one example. */
  private List<Conflict> list() {
    List<Conflict> conflicts = new ArrayList<>();
    found.forEach(
        (group, all) -> {
          if (all.size() <= REPORTED_EACH) {
            all.forEach((by, rule) -> conflicts.add(conflict(group, by, rule, rule.ranges, 1)));
          } else {
            Set<Cidr> ranges = new LinkedHashSet<>();
            all.values().forEach(rule -> ranges.addAll(rule.ranges));
            Map.Entry<Placed, Found> example = all.entrySet().iterator().next();
            conflicts.add(
                conflict(group, example.getKey(), example.getValue(), ranges, all.size()));
          }
        });
    return conflicts;
  }

  private Conflict conflict(Group group, Placed by, Found rule, Set<Cidr> ranges, int rules) {
    return new Conflict(
        policy.family(),
        group.kind(),
        group.owner(),
        by.rule().text(),
        by.where(),
        phrase(rule.packets, rule.ranges.isEmpty()),
        ranges.stream().limit(RANGES_NAMED).toList(),
        rules);
  }

  /** Which packets: {@code packets from 10.244.0.0/16, not tcp}. */
  private String phrase(Packets packets, boolean withDestination) {
    List<String> phrases = new ArrayList<>();
    for (Field field : Field.values()) {
      if (field == Field.DESTINATION && !withDestination) {
        continue;
      }
      Ranges all = any.get(field);
      if (field == Field.DESTINATION) {
        all = all.minus(nowhere(policy.family()));
      }
      Ranges some = whole(packets.get(field), field);
      Ranges others = all.minus(some);
      if (some.list().size() <= others.list().size() && !others.isEmpty()) {
        list(some, field).ifPresent(text -> phrases.add(preposition(field) + text));
      } else if (!others.isEmpty()) {
        list(others, field).ifPresent(text -> phrases.add("not " + preposition(field) + text));
      }
    }
    List<String> missing = new ArrayList<>(any.out());
    missing.removeAll(packets.out());
    if (!missing.isEmpty()) {
      phrases.add(
          packets.out().size() <= missing.size()
              ? "out of " + String.join(", ", packets.out())
              : "not out of " + String.join(", ", missing));
    }
    return phrases.isEmpty() ? "packets" : "packets " + String.join(", ", phrases);
  }

  /**
   * The node's own addresses, which were left out, are no reason to name the ranges around them.
   */
  private Ranges whole(Ranges some, Field field) {
    Ranges leftOut = field.all(policy.family()).minus(any.get(field));
    Ranges merged = some.or(leftOut);
    List<Ranges.Range> whole =
        merged.list().stream().filter(it -> new Ranges(List.of(it)).meets(some)).toList();
    return whole.size() < some.list().size() ? new Ranges(whole) : some;
  }

  private static String preposition(Field field) {
    return switch (field) {
      case SOURCE -> "from ";
      case DESTINATION -> "to ";
      case PROTOCOL -> "";
      case SOURCE_PORT -> "from port ";
      case PORT -> "to port ";
    };
  }

  /** A few of them; nothing if they are too many to name. */
  private Optional<String> list(Ranges ranges, Field field) {
    if (ranges.list().size() > 3) {
      return Optional.empty();
    }
    List<String> texts = new ArrayList<>();
    for (Ranges.Range range : ranges.list()) {
      texts.add(
          switch (field) {
            case SOURCE, DESTINATION -> text(Ranges.addresses(range, policy.family()));
            case PROTOCOL -> text(range, number -> Protocols.name(number.intValue()));
            case SOURCE_PORT, PORT -> text(range, BigInteger::toString);
          });
    }
    return Optional.of(String.join(", ", texts));
  }

  private static String text(
      Ranges.Range range, java.util.function.Function<BigInteger, String> name) {
    return range.first().equals(range.last())
        ? name.apply(range.first())
        : name.apply(range.first()) + "-" + name.apply(range.last());
  }

  /** A block or an address as such, any other range by its ends. */
  private static String text(IpRange range) {
    return range.first().equals(range.last())
        ? range.first().toString()
        : range.block().map(Cidr::toString).orElse(range.toString());
  }
}
