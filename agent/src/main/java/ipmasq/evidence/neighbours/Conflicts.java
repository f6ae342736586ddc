package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Cell.Field;
import ipmasq.evidence.neighbours.Conflict.Kind;
import ipmasq.evidence.neighbours.Rule.Hooks;
import ipmasq.evidence.neighbours.Rule.Placed;
import ipmasq.evidence.neighbours.Walk.Leaf;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.IpRange;
import ipmasq.net.Protocols;
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
import java.util.TreeMap;

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
  private final Hooks hooks;
  private final NodeLinks.Pods pods;
  private final List<Interval> ways;
  private final List<Cidr> exempt; // sorted and disjoint
  private final List<Interval> exemptAddresses;

  /** For each kind and owner the rules, and for each rule the first of its cells. */
  private final Map<Kind, Map<Owner, Map<Placed, Found>>> found = new TreeMap<>();

  /** What a rule affects: the first cell, and some of the exempt ranges. */
  private record Found(Cell example, Set<Cidr> ranges) {}

  private Conflicts(Hooks hooks, Policy policy, NodeLinks links) {
    this.policy = policy;
    this.hooks = hooks;
    this.pods = links.pods(policy.family(), policy.sources());
    this.ways =
        policy.interfaces().isEmpty()
            ? List.of(hooks.links().all())
            : hooks.links().named(policy.interfaces());
    this.exempt = policy.exempt();
    this.exemptAddresses = Interval.view(exempt, Interval::of);
  }

  /**
   * @param policy what the config asks for
   */
  static List<Conflict> in(Hooks hooks, Policy policy, NodeLinks links) {
    Conflicts conflicts = new Conflicts(hooks, policy, links);
    conflicts.judge(List.of(Cell.any(policy.family(), Treatment.EXEMPT, hooks.links())));
    Cell others = Cell.any(policy.family(), Treatment.TRANSLATE, hooks.links());
    conflicts.judge(
        routed(policy.family()).stream().map(it -> others.with(Field.DESTINATION, it)).toList());
    return conflicts.list();
  }

  /** All but the ranges that no router forwards. */
  private static List<Interval> routed(Family family) {
    String ranges =
        switch (family) {
          case IPV4 ->
              "1.0.0.0-126.255.255.255 128.0.0.0-223.255.255.255 240.0.0.0-255.255.255.254";
          case IPV6 ->
              "::2-fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
                  + " fec0::-feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
        };
    return List.of(ranges.split(" ")).stream()
        .map(it -> Interval.of(IpRange.parse(it).orElseThrow()))
        .toList();
  }

  private void judge(List<Cell> cells) {
    boolean inScope = hooks.ours().filter(it -> it.sources().equals(policy.sources())).isPresent();
    for (Leaf leaf : Walk.of(hooks, cells, inScope, this::matters, Walk.MOST_VISITS_OF_ALL)) {
      leaf.by().ifPresent(by -> kind(leaf, by).ifPresent(kind -> add(kind, by, leaf.cell())));
    }
  }

  /** Whether there are pods' packets in it, to destinations of its treatment. */
  private boolean matters(Cell cell) {
    Interval to = cell.get(Field.DESTINATION);
    return pods.mayHave(cell.get(Field.SOURCE))
        && cell.get(Field.OUT).meetsAny(ways)
        && switch (cell.treatment()) {
          case EXEMPT -> to.meetsAny(exemptAddresses);
          case TRANSLATE -> !to.isWithin(exemptAddresses);
        };
  }

  private Optional<Kind> kind(Leaf leaf, Placed by) {
    boolean elsewhere =
        policy.sources().isEmpty() && pods.isElsewhere(by.owner(), leaf.cell().get(Field.SOURCE));
    boolean drops = leaf.certain() && by.nat() && !elsewhere; // nat is no place to drop packets
    Kind kind =
        switch (leaf.cell().treatment()) {
          case EXEMPT -> // packets that should keep their source
              switch (leaf.kind()) {
                case TRANSLATED ->
                    !leaf.certain() ? Kind.UNCLEAR : elsewhere ? Kind.ELSEWHERE : Kind.MASQUERADES;
                case UNCLEAR -> Kind.UNCLEAR;
                case DROPPED -> drops ? Kind.DROPS : null;
                case OURS, PINNED, KEPT, PASSED, REDIRECTED -> null;
              };
          case TRANSLATE -> // packets that our rules should translate
              switch (elsewhere ? Walk.Kind.OURS : leaf.kind()) {
                case PASSED -> leaf.certain() ? Kind.SHIELDS : Kind.UNCLEAR_SHIELD;
                case KEPT -> leaf.certain() ? Kind.KEEPS : Kind.UNCLEAR_SHIELD;
                case UNCLEAR -> Kind.UNCLEAR_SHIELD;
                case TRANSLATED -> leaf.certain() && !isAsDesired(leaf) ? Kind.PRECEDES : null;
                case DROPPED -> drops ? Kind.DROPS : null;
                case OURS, PINNED, REDIRECTED -> null;
              };
        };
    return Optional.ofNullable(kind);
  }

  /** Whether another program's rule gives packets addresses and ports that the config asks for. */
  private boolean isAsDesired(Leaf leaf) {
    Translation desired = policy.translation();
    Optional<IpRange> to = leaf.how().flatMap(Step.Translate::to);
    return desired.ports().isEmpty()
        && (desired.addresses().isEmpty()
            || to.isPresent()
                && Interval.of(desired.addresses().get()).contains(Interval.of(to.get())));
  }

  private void add(Kind kind, Placed by, Cell cell) {
    Set<Cidr> ranges =
        found
            .computeIfAbsent(kind, _ -> new LinkedHashMap<>())
            .computeIfAbsent(by.owner(), _ -> new LinkedHashMap<>())
            .computeIfAbsent(by, _ -> new Found(cell, new LinkedHashSet<>()))
            .ranges;
    Interval to = cell.get(Field.DESTINATION);
    for (int at = to.firstIn(exemptAddresses);
        cell.treatment() == Treatment.EXEMPT
            && at < exempt.size()
            && ranges.size() < RANGES_NAMED
            && exemptAddresses.get(at).meets(to);
        at++) {
      ranges.add(exempt.get(at));
    }
  }

  /** Each rule by itself, but the many of one owner, as for every pod, as one example. */
  private List<Conflict> list() {
    List<Conflict> conflicts = new ArrayList<>();
    found.forEach(
        (kind, owners) ->
            owners.forEach(
                (owner, rules) -> {
                  boolean many = rules.size() > REPORTED_EACH;
                  rules.entrySet().stream()
                      .limit(many ? 1 : REPORTED_EACH)
                      .map(
                          it -> conflict(kind, it.getKey(), it.getValue(), many ? rules.size() : 1))
                      .forEach(conflicts::add);
                }));
    return conflicts;
  }

  private Conflict conflict(Kind kind, Placed by, Found found, int rules) {
    List<String> phrases = new ArrayList<>(List.of("packets"));
    for (Field field : by.rule().fields()) {
      Interval side = found.example.get(field);
      String text =
          field == Field.PROTOCOL ? Protocols.name(side.first().intValue()) : text(side, field);
      switch (field) {
        case SOURCE -> phrases.add("from " + text);
        case DESTINATION -> phrases.add(found.ranges.isEmpty() ? "to " + text : "");
        case PROTOCOL -> phrases.add(side.isSingle() ? text : "");
        case SOURCE_PORT -> phrases.add("from port " + text);
        case PORT -> phrases.add("to port " + text);
        case OUT -> phrases.add(side.isSingle() ? "out of " + hooks.links().name(side) : "");
        case IN, FROM_NODE, TO_NODE -> {}
      }
    }
    phrases.removeIf(String::isEmpty);
    return new Conflict(
        policy.family(),
        kind,
        by.owner(),
        by.rule().text(),
        by.where(),
        String.join(", ", phrases).replaceFirst(", ", " "),
        List.copyOf(found.ranges),
        rules);
  }

  /** A block, an address or a number as such, any other range by its ends. */
  private String text(Interval side, Field field) {
    if (field != Field.SOURCE && field != Field.DESTINATION) {
      return side.isSingle() ? "" + side.first() : side.first() + "-" + side.last();
    }
    IpRange range = side.addresses(policy.family());
    return side.isSingle()
        ? range.first().toString()
        : range.block().map(Cidr::toString).orElse(range.toString());
  }
}
