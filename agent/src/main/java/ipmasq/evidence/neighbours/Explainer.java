package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Cell.Field;
import ipmasq.evidence.neighbours.Explanation.DecidedBy;
import ipmasq.evidence.neighbours.Explanation.Effect;
import ipmasq.evidence.neighbours.Explanation.Outcome;
import ipmasq.evidence.neighbours.Explanation.Wish;
import ipmasq.evidence.neighbours.Rule.Hooks;
import ipmasq.evidence.neighbours.Rule.Placed;
import ipmasq.evidence.neighbours.Walk.Kind;
import ipmasq.evidence.neighbours.Walk.Leaf;
import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Says what becomes of the packets of one question. Used once. */
final class Explainer {
  private static final int RULES_NAMED = 3;

  private final Question question;
  private final Optional<Policy> policy;
  private final Hooks hooks;
  private final NodeLinks.Pods pods;
  private final boolean ofNode;
  private final boolean local;
  private final List<String> interfaces;
  private final Wish desired;
  private boolean ofPods;

  Explainer(Question question, Optional<Policy> policy, Hooks hooks, NodeLinks links) {
    this.question = question;
    this.policy = policy;
    this.hooks = hooks;
    List<Cidr> scope = policy.map(it -> List.<Cidr>copyOf(it.sources())).orElse(List.of());
    this.pods = links.pods(question.family(), scope);
    this.ofNode = question.from().filter(RouteLookup::isLocal).isPresent();
    this.local = RouteLookup.isLocal(question.to());
    this.interfaces =
        question.via().map(List::of).orElseGet(() -> RouteLookup.interfaces(question, ofNode));
    this.desired = Wish.of(question, policy, interfaces);
  }

  Explanation explain() {
    boolean inScope =
        question.from().isEmpty()
            && policy.map(Policy::sources).equals(hooks.ours().map(Policy::sources));
    List<Leaf> leaves = Walk.of(hooks, cells(), inScope, this::mayBeOfPods, Walk.MOST_VISITS);
    if (leaves.isEmpty()) { // the policy is about the node itself
      leaves = Walk.of(hooks, cells(), inScope, _ -> true, Walk.MOST_VISITS);
    }
    if (question.from().isEmpty()) {
      List<Leaf> ours = leaves.stream().filter(leaf -> !isElsewhere(leaf)).toList();
      ofPods = ours.size() < leaves.size();
      leaves = ours.isEmpty() ? leaves : ours;
    }
    List<Leaf> unfiltered = leaves.stream().filter(leaf -> !isFiltered(leaf)).toList();
    return outcome(unfiltered.isEmpty() ? leaves : unfiltered);
  }

  private boolean mayBeOfPods(Cell cell) {
    return cell.named() || pods.mayHave(cell.get(Field.SOURCE));
  }

  private boolean isElsewhere(Leaf leaf) {
    return leaf.by()
        .filter(by -> pods.isElsewhere(by.owner(), leaf.cell().get(Field.SOURCE)))
        .isPresent();
  }

  /** What a filter may drop, as it may anywhere, is not what is asked. */
  private static boolean isFiltered(Leaf leaf) {
    return leaf.kind() == Kind.DROPPED && leaf.by().filter(by -> !by.nat()).isPresent();
  }

  /** One for each interface that they may leave by. */
  private List<Cell> cells() {
    Links links = hooks.links();
    Cell cell =
        Cell.any(question.family(), treatment(), links)
            .with(Field.DESTINATION, Interval.of(question.to()))
            .with(Field.TO_NODE, local ? Cell.YES : Cell.NO);
    if (question.from().isPresent()) {
      Ip from = question.from().get();
      cell =
          cell.from(Interval.of(from))
              .with(Field.FROM_NODE, ofNode ? Cell.YES : Cell.NO)
              .with(
                  Field.IN,
                  ofNode
                      ? Links.NONE
                      : RouteLookup.cameBy(from).flatMap(links::named).orElse(links.all()));
    }
    if (question.protocol().isPresent()) {
      int number = question.protocolNumber();
      cell = cell.with(Field.PROTOCOL, Interval.of(number, number));
    }
    if (question.port().isPresent()) {
      int port = question.port().getAsInt();
      cell = cell.with(Field.PORT, Interval.of(port, port));
    }
    List<Cell> cells = new ArrayList<>();
    for (String name : interfaces) {
      cells.add(cell.with(Field.OUT, links.named(name).orElse(links.all())));
    }
    return cells.isEmpty() ? List.of(cell) : cells;
  }

  /** What our rules do with the destination. */
  private Treatment treatment() {
    return hooks.ours().or(() -> policy).stream()
        .flatMap(it -> it.destinations().stream())
        .filter(it -> it.range().contains(question.to()))
        .findFirst()
        .map(Destination::treatment)
        .orElse(Treatment.TRANSLATE);
  }

  private Explanation outcome(List<Leaf> leaves) {
    List<Leaf> redirected = leaves.stream().filter(leaf -> leaf.kind() == Kind.REDIRECTED).toList();
    boolean all = redirected.size() == leaves.size();
    if (local && !all) {
      String unless = redirected.isEmpty() ? "" : "; unless a service of the node takes its port";
      return answer(Effect.KEPT, Optional.empty(), desired.why() + unless);
    }
    if (!redirected.isEmpty()) {
      DecidedBy by = by(redirected.getFirst());
      String surely = all && redirected.stream().allMatch(Leaf::certain) ? "is" : "may be";
      String rule = by.owner().title() + " (" + by.rule() + ")";
      String why = "its destination " + surely + " changed before, by a rule of " + rule;
      why += ": what happens then depends on the new destination, so ask for that";
      return answer(Effect.REDIRECTED, Optional.empty(), why);
    }
    Leaf first = leaves.getFirst();
    Effect effect = effect(first);
    boolean one = leaves.stream().map(Leaf::by).distinct().count() == 1;
    Optional<DecidedBy> by = one ? first.by().map(_ -> by(first)) : Optional.empty();
    if (leaves.stream().anyMatch(leaf -> effect(leaf) != effect)) {
      return may(leaves);
    }
    String who = by.map(it -> "a rule of " + it.owner().title()).orElse("");
    return switch (effect) {
      case TRANSLATED -> translated(leaves, by, who);
      case KEPT -> kept(one ? first.kind() : Kind.PASSED, by, who);
      case DROPPED -> answer(effect, by, who + " drops it");
      case PINNED, REDIRECTED, MAY -> may(leaves);
    };
  }

  /** What it comes down to for the source. */
  private static Effect effect(Leaf leaf) {
    return switch (leaf.kind()) {
      case TRANSLATED, OURS -> Effect.TRANSLATED;
      case PINNED, KEPT, PASSED -> Effect.KEPT;
      case DROPPED -> Effect.DROPPED;
      case REDIRECTED, UNCLEAR -> Effect.MAY;
    };
  }

  private Explanation may(List<Leaf> leaves) {
    return answer(Effect.MAY, Optional.empty(), "it depends on " + rules(leaves));
  }

  private Explanation answer(Effect effect, Optional<DecidedBy> by, String why) {
    return answer(new Outcome(effect, by, Optional.empty()), why);
  }

  private Explanation answer(Outcome outcome, String why) {
    return new Explanation(
        question.to(),
        question.from(),
        desired,
        Optional.of(outcome),
        why + given(),
        Optional.empty());
  }

  private DecidedBy by(Leaf leaf) {
    Placed placed = leaf.by().orElseThrow();
    return switch (leaf.kind()) {
      case OURS ->
          new DecidedBy(
              placed.where() + ": " + desired.how().map(Object::toString).orElse("masquerade"),
              Owner.AGENT);
      case PINNED -> new DecidedBy(placed.where() + ": " + desired.why(), Owner.AGENT);
      default -> new DecidedBy(placed.toString(), placed.owner());
    };
  }

  private Explanation translated(List<Leaf> leaves, Optional<DecidedBy> by, String who) {
    Leaf first = leaves.getFirst();
    String although = desired.kind() == Wish.Kind.KEPT ? " although " + desired.why() : "";
    String why =
        by.isEmpty()
            ? "several rules would translate it, and which of them does is not known: "
                + rules(leaves)
            : first.kind() == Kind.OURS ? desired.why() : who + " translates it" + although;
    Optional<String> source = by.flatMap(_ -> source(first));
    if (source.isPresent() && source.equals(question.from().map(Ip::toString))) {
      String same = why + "; the source that it gets is the one that it has";
      return answer(Effect.KEPT, Optional.empty(), same);
    }
    if (ofNode && leaves.stream().anyMatch(leaf -> source(leaf).isEmpty())) {
      String same = why + "; the source that it gets may be the one that it has";
      return answer(Effect.MAY, Optional.empty(), same);
    }
    return answer(new Outcome(Effect.TRANSLATED, by, source), why);
  }

  private Explanation kept(Kind kind, Optional<DecidedBy> by, String who) {
    if (kind == Kind.PINNED) {
      return answer(Effect.PINNED, by, desired.why());
    }
    if (kind == Kind.KEPT) {
      return answer(Effect.KEPT, by, who + " binds it to the source that it has");
    }
    if (desired.kind() != Wish.Kind.TRANSLATED) {
      Optional<DecidedBy> exempt =
          desired
              .range()
              .filter(_ -> hooks.holdOurs())
              .map(it -> new DecidedBy(it + " is exempt", Owner.AGENT));
      return answer(Effect.KEPT, exempt, desired.why());
    }
    String why =
        by.isPresent()
            ? who + " ends the chain before our rules"
            : "no rule at the nat postrouting hook translates it, although " + desired.why();
    return answer(Effect.KEPT, by, why);
  }

  /** The source that it gets, if known. */
  private Optional<String> source(Leaf leaf) {
    boolean ours = leaf.kind() == Kind.OURS;
    Optional<String> range =
        ours
            ? desired.how().flatMap(it -> it.addresses()).map(Object::toString)
            : leaf.how().flatMap(Step.Translate::to).map(Object::toString);
    boolean masquerade = ours || leaf.how().filter(Step.Translate::masquerade).isPresent();
    return range.isPresent() || !masquerade || interfaces.size() != 1
        ? range
        : RouteLookup.onlyAddress(interfaces.getFirst(), question.to()).map(Ip::toString);
  }

  /** Those that decide, and those that were not judged: a few of them. */
  private String rules(List<Leaf> leaves) {
    List<String> all =
        leaves.stream()
            .flatMap(
                leaf ->
                    Stream.concat(
                        leaf.by().map(_ -> by(leaf)).stream(),
                        leaf.assumed().stream()
                            .map(it -> new DecidedBy(it.toString(), it.owner()))))
            .map(by -> "a rule of " + by.owner().title() + ": " + by.rule())
            .distinct()
            .toList();
    String named = String.join("; ", all.subList(0, Math.min(RULES_NAMED, all.size())));
    int more = all.size() - RULES_NAMED;
    return more > 0 ? named + "; and " + more + " more" : named;
  }

  /** The assumptions behind the answer. */
  private String given() {
    StringBuilder given = new StringBuilder();
    boolean byInterface = policy.filter(p -> !p.interfaces().isEmpty()).isPresent();
    if (question.via().isEmpty() && !interfaces.isEmpty() && byInterface) {
      given.append("; it leaves by ").append(String.join(" or ", interfaces));
    }
    if (question.from().isEmpty() && policy.filter(p -> !p.sources().isEmpty()).isPresent()) {
      given.append("; for packets from sourceCIDRs");
    }
    if (interfaces.isEmpty() && !local) {
      given.append(
          RouteLookup.isUnreachable(question.to())
              ? "; but the node has no route there now, so nothing leaves"
              : "; by which interface it leaves is not known");
    }
    return given.append(ofPods ? "; for a pod's packets" : "").toString();
  }
}
