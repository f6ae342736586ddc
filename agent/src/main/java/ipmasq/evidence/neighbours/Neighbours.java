package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Explanation.DecidedBy;
import ipmasq.evidence.neighbours.Explanation.Outcome;
import ipmasq.evidence.neighbours.HooksReader.Services;
import ipmasq.evidence.neighbours.Packets.Field;
import ipmasq.evidence.neighbours.Rule.Hooks;
import ipmasq.evidence.neighbours.Rule.Placed;
import ipmasq.evidence.neighbours.Walk.Kind;
import ipmasq.evidence.neighbours.Walk.Leaf;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What other programs' rules do beside ours: which override the config, and what happens to one
 * packet. Used by one thread, in its network namespace.
 */
public final class Neighbours implements AutoCloseable {
  private static final int RULES_NAMED = 3;
  private static final String PINNED = ", and pinned: no later chain masquerades it";

  private final HooksReader reader = new HooksReader();
  private final Map<Family, Judged> judged = new EnumMap<>(Family.class);
  private boolean asksIpsets;

  /** What was judged, and what came of it. */
  private record Judged(Hooks hooks, Policy desired, NodeLinks links, List<Conflict> conflicts) {}

  /**
   * Where our rules are.
   *
   * @param backend the name of the backend that holds them
   * @param chain the name of our chain in iptables
   * @param policy as they are; empty: there are none, or they are not readable
   */
  public record Ours(String backend, String chain, Optional<Policy> policy) {}

  /**
   * The rules that override the config. They are read each time, and judged if they changed.
   *
   * @param desired what the config asks for
   */
  public List<Conflict> conflicts(Policy desired, Ours ours, NodeLinks links) {
    Family family = desired.family();
    Hooks hooks = reader.read(family, ours, Services.LEFT_OUT);
    asksIpsets = family == Family.IPV4 ? reader.readIpsets() : asksIpsets || reader.readIpsets();
    Judged before = judged.get(family);
    if (before == null
        || !before.hooks.equals(hooks)
        || !before.desired.equals(desired)
        || !before.links.equals(links)) {
      before = new Judged(hooks, desired, links, Conflicts.in(hooks, desired, links));
      judged.put(family, before);
    }
    return before.conflicts;
  }

  /** Whether a rule asks an ipset, whose content changes without a trace in the rules. */
  public boolean asksIpsets() {
    return asksIpsets;
  }

  /** By the config alone. */
  public static Explanation byConfig(Question question, Optional<Policy> desired) {
    Desired asked = Desired.of(question, desired, question.via().stream().toList());
    boolean pinned =
        asked.kind() == Explanation.Wish.Kind.KEPT && desired.filter(Policy::pinned).isPresent();
    List<String> given = new ArrayList<>();
    if (desired.isPresent() && asked.kind() != Explanation.Wish.Kind.ANYTHING) {
      if (question.from().isEmpty() && !desired.get().sources().isEmpty()) {
        given.add("for packets from " + desired.get().sources().getFirst());
      }
      if (question.via().isEmpty() && !desired.get().interfaces().isEmpty()) {
        given.add("out of " + desired.get().interfaces().getFirst());
      }
    }
    return new Explanation(
        question.to(),
        question.from(),
        asked.wish(pinned),
        Optional.empty(),
        asked.why() + (pinned ? PINNED : ""),
        given,
        Optional.empty());
  }

  /** By all rules. */
  public Explanation explain(
      Question question, Optional<Policy> desired, Ours ours, NodeLinks links) {
    Hooks hooks = reader.read(question.family(), ours, Services.FOLLOWED);
    return new Answer(question, desired, hooks, links).explain();
  }

  @Override
  public void close() {
    reader.close();
  }

  /** One question. */
  private static final class Answer {
    private final Question question;
    private final Optional<Policy> policy;
    private final Hooks hooks;
    private final NodeLinks links;
    private final boolean ofNode;
    private final boolean local;
    private final List<String> interfaces;
    private final Desired desired;
    private boolean ofPods;

    Answer(Question question, Optional<Policy> policy, Hooks hooks, NodeLinks links) {
      this.question = question;
      this.policy = policy;
      this.hooks = hooks;
      this.links = links;
      this.ofNode = question.from().filter(RouteLookup::isLocal).isPresent();
      this.local = RouteLookup.isLocal(question.to());
      this.interfaces =
          question.via().map(List::of).orElseGet(() -> RouteLookup.interfaces(question, ofNode));
      this.desired = Desired.of(question, policy, interfaces);
    }

    Explanation explain() {
      List<Leaf> leaves = Walk.of(hooks, packets(), _ -> true, Walk.MOST_VISITS);
      if (question.from().isEmpty()) {
        List<Leaf> pods =
            leaves.stream()
                .filter(
                    leaf ->
                        leaf.by()
                            .filter(by -> links.isElsewhere(by.owner(), leaf.packets()))
                            .isEmpty())
                .toList();
        ofPods = pods.size() < leaves.size();
        leaves = pods.isEmpty() ? leaves : pods;
      }
      List<Leaf> unfiltered = leaves.stream().filter(leaf -> !isFiltered(leaf)).toList();
      return outcome(unfiltered.isEmpty() ? leaves : unfiltered);
    }

    /** What a filter may drop, as it may anywhere, is not what is asked. */
    private static boolean isFiltered(Leaf leaf) {
      return leaf.kind() == Kind.DROPPED && leaf.by().filter(by -> !by.nat()).isPresent();
    }

    private Packets packets() {
      Packets packets =
          Packets.to(question.to(), treatment(), links.names())
              .local(local)
              .through(links.names(), interfaces.isEmpty() ? links.names() : interfaces);
      if (question.from().isPresent()) {
        List<String> in =
            RouteLookup.cameBy(question.from().get()).map(List::of).orElse(links.names());
        packets = packets.from(question.from().get(), ofNode, in);
      } else {
        packets = links.ofPods(packets);
        Optional<Policy> scoped = policy.filter(it -> !it.sources().isEmpty());
        if (scoped.isPresent()) {
          packets = packets.with(Field.SOURCE, Ranges.of(scoped.get().sources()));
        }
      }
      if (question.protocol().isPresent()) {
        int number = question.protocolNumber();
        packets = packets.with(Field.PROTOCOL, Ranges.of(number, number));
      }
      if (question.port().isPresent()) {
        int port = question.port().getAsInt();
        packets = packets.with(Field.PORT, Ranges.of(port, port));
      }
      return packets;
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
      Optional<Leaf> redirected =
          leaves.stream().filter(leaf -> leaf.kind() == Kind.REDIRECTED).findFirst();
      boolean all = leaves.stream().allMatch(leaf -> leaf.kind() == Kind.REDIRECTED);
      if (local && !all) {
        String unless =
            redirected.isPresent() ? "; unless a service of the node takes its port" : "";
        return answer(new Outcome.Kept(Optional.empty(), false), desired.why() + unless);
      }
      if (redirected.isPresent()) {
        DecidedBy by = by(redirected.get());
        String changed = all && redirected.get().certain() ? "is" : "may be";
        return answer(
            new Outcome.Redirected(by),
            "its destination "
                + changed
                + " changed before, by a rule of "
                + by.owner()
                + " ("
                + by.rule()
                + "): what happens then depends on the new destination, so ask for that");
      }
      Set<Effect> effects = new LinkedHashSet<>();
      leaves.forEach(leaf -> effects.add(Effect.of(leaf.kind())));
      Leaf first = leaves.getFirst();
      boolean one = leaves.stream().map(Leaf::by).distinct().count() == 1;
      return effects.size() > 1
          ? may(leaves)
          : switch (Effect.of(first.kind())) {
            case TRANSLATED -> one ? translated(first) : translated(leaves);
            case KEPT -> kept(first, one);
            case DROPPED ->
                answer(
                    new Outcome.Dropped(by(first)), "a rule of " + by(first).owner() + " drops it");
            case UNKNOWN -> may(leaves);
          };
    }

    /** What it comes down to for the source. */
    private enum Effect {
      KEPT,
      TRANSLATED,
      DROPPED,
      UNKNOWN;

      static Effect of(Kind kind) {
        return switch (kind) {
          case TRANSLATED, OURS -> TRANSLATED;
          case PINNED, KEPT, PASSED -> KEPT;
          case DROPPED -> DROPPED;
          case REDIRECTED, UNCLEAR -> UNKNOWN;
        };
      }
    }

    private Explanation answer(Outcome outcome, String why) {
      return new Explanation(
          question.to(),
          question.from(),
          desired.wish(policy.filter(Policy::pinned).isPresent()),
          Optional.of(outcome),
          why,
          given(),
          Optional.empty());
    }

    private DecidedBy by(Leaf leaf) {
      Placed placed = leaf.by().orElseThrow();
      String rule =
          switch (leaf.kind()) {
            case OURS ->
                placed.where() + ": " + desired.how().map(Object::toString).orElse("masquerade");
            case PINNED -> placed.where() + ": " + desired.why();
            default -> placed.toString();
          };
      boolean ours = leaf.kind() == Kind.OURS || leaf.kind() == Kind.PINNED;
      Owner owner = ours ? Owner.AGENT : placed.owner();
      return new DecidedBy(rule, owner.title(), owner.advice());
    }

    private Explanation translated(Leaf leaf) {
      DecidedBy by = by(leaf);
      String why =
          leaf.kind() == Kind.OURS
              ? desired.why()
              : "a rule of "
                  + by.owner()
                  + " translates it"
                  + (desired.kind() == Explanation.Wish.Kind.KEPT
                      ? " although " + desired.why()
                      : "");
      Optional<String> to = source(leaf);
      if (to.isPresent() && to.equals(question.from().map(Ip::toString))) {
        String same = why + "; the source that it gets is the one that it has";
        return answer(new Outcome.Kept(Optional.empty(), false), same);
      }
      if (to.isEmpty() && ofNode) {
        String same = why + "; the source that it gets may be the one that it has";
        return answer(new Outcome.May(List.of(by)), same);
      }
      return answer(new Outcome.Translated(Optional.of(by), to), why);
    }

    private Explanation translated(List<Leaf> leaves) {
      if (ofNode && leaves.stream().anyMatch(leaf -> source(leaf).isEmpty())) {
        return may(leaves);
      }
      return answer(
          new Outcome.Translated(Optional.empty(), Optional.empty()),
          "several rules would translate it, and which of them does is not known: "
              + rules(leaves));
    }

    /** The source that it gets, if known. */
    private Optional<String> source(Leaf leaf) {
      Optional<String> range =
          leaf.kind() == Kind.OURS
              ? desired.how().flatMap(it -> it.addresses()).map(Object::toString)
              : leaf.how().flatMap(Step.Translate::to).map(Object::toString);
      boolean masquerade =
          leaf.kind() == Kind.OURS || leaf.how().filter(Step.Translate::masquerade).isPresent();
      return range.isPresent() || !masquerade || interfaces.size() != 1
          ? range
          : RouteLookup.onlyAddress(interfaces.getFirst(), question.to()).map(Ip::toString);
    }

    private Explanation kept(Leaf leaf, boolean one) {
      boolean wanted = desired.kind() == Explanation.Wish.Kind.TRANSLATED;
      Optional<DecidedBy> by = one ? leaf.by().map(_ -> by(leaf)) : Optional.empty();
      if (one && leaf.kind() == Kind.PINNED) {
        return answer(new Outcome.Kept(by, true), desired.why() + PINNED);
      }
      if (one && leaf.kind() == Kind.KEPT) {
        String why =
            "a rule of " + by.orElseThrow().owner() + " binds it to the source that it has";
        return answer(new Outcome.Kept(by, false), why);
      }
      if (!wanted) {
        Optional<DecidedBy> ours =
            desired.range().map(it -> new DecidedBy(it + " is exempt", Owner.AGENT.title(), ""));
        return answer(
            new Outcome.Kept(hooks.holdOurs() ? ours : Optional.empty(), false), desired.why());
      }
      return answer(
          new Outcome.Kept(by, false),
          by.isPresent()
              ? "a rule of " + by.get().owner() + " ends the chain before our rules"
              : "no rule at the nat postrouting hook translates it, although " + desired.why());
    }

    /** Rules that decide, and those whose matches were only assumed. */
    private Explanation may(List<Leaf> leaves) {
      List<DecidedBy> perhaps =
          leaves.stream().filter(leaf -> leaf.by().isPresent()).map(this::by).distinct().toList();
      return answer(new Outcome.May(perhaps), "it depends on " + rules(leaves));
    }

    /** A few of them, each once. */
    private String rules(List<Leaf> leaves) {
      List<String> all =
          leaves.stream()
              .flatMap(
                  leaf ->
                      Stream.concat(
                          leaf.by().stream()
                              .map(_ -> "a rule of " + by(leaf).owner() + ": " + by(leaf).rule()),
                          leaf.assumed().stream()
                              .map(it -> "a rule of " + it.owner().title() + ": " + it)))
              .distinct()
              .toList();
      String named = String.join("; ", all.subList(0, Math.min(RULES_NAMED, all.size())));
      return all.size() > RULES_NAMED
          ? named + "; and " + (all.size() - RULES_NAMED) + " more"
          : named;
    }

    /** The assumptions behind the answer. */
    private List<String> given() {
      List<String> given = new ArrayList<>();
      if (question.via().isEmpty()
          && !interfaces.isEmpty()
          && policy.filter(p -> !p.interfaces().isEmpty()).isPresent()) {
        given.add("it leaves by " + String.join(" or ", interfaces));
      }
      if (question.from().isEmpty() && policy.filter(p -> !p.sources().isEmpty()).isPresent()) {
        given.add("for packets from sourceCIDRs");
      }
      if (interfaces.isEmpty() && !local) {
        given.add(
            RouteLookup.isUnreachable(question.to())
                ? "but the node has no route there now, so nothing leaves"
                : "by which interface it leaves is not known");
      }
      if (ofPods) {
        given.add("for a pod's packets");
      }
      return given;
    }
  }
}
