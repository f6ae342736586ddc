package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Step.Test;
import ipmasq.net.ForeignText;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A rule of any program.
 *
 * @param text as its own tool prints it, or how that tool shows it
 */
record Rule(List<Step> steps, ForeignText text) {
  Rule {
    steps = List.copyOf(steps);
  }

  Rule(List<Step> steps, String text) {
    this(steps, ForeignText.shortened(text));
  }

  /** The chains that it may lead to. */
  Stream<String> targets() {
    return steps.stream()
        .flatMap(
            step ->
                step instanceof Step.Choose(var choices)
                    ? choices.stream().map(Step.Choice::step)
                    : Stream.of(step))
        .filter(Step.Jump.class::isInstance)
        .map(step -> ((Step.Jump) step).chain());
  }

  /** The fields that it narrows. */
  Set<Cell.Field> fields() {
    Set<Cell.Field> fields = new TreeSet<>();
    for (Step step : steps) {
      if (step instanceof Step.In(var boxes) && !boxes.isEmpty()) {
        fields.addAll(boxes.getFirst().sides().keySet());
      }
    }
    return fields;
  }

  /** Whether it is about packets that a host sends to itself. */
  boolean isHairpin() {
    Box all = Box.ALL;
    for (Step step : steps) {
      if (step instanceof Step.In(var boxes) && boxes.size() == 1) {
        all = all.and(boxes.getFirst()).orElse(all);
      }
    }
    return all.isHairpin();
  }

  /** What a jump to a chain does; empty: nothing that matters here. */
  @FunctionalInterface
  interface Jumps {
    /**
     * @param noReturn whether it is a goto
     */
    Optional<Step> to(String chain, boolean noReturn);
  }

  /**
   * A chain that its hook calls, with the chains that it leads to.
   *
   * @param holdsOurs whether the base chain itself leads to our rules
   * @param changedMarks the bits of the mark that its rules may change
   */
  record Base(
      Place place,
      String entry,
      boolean drops,
      Map<String, List<Rule>> chains,
      boolean holdsOurs,
      long changedMarks) {
    static final Base NONE =
        new Base(new Place("", Stage.PREROUTING, false, 0), "", false, Map.of(), false, 0);

    static Base of(Place place, String entry, boolean drops, Map<String, List<Rule>> chains) {
      boolean ours =
          chains.getOrDefault(entry, List.of()).stream()
              .anyMatch(rule -> rule.steps.contains(Step.Verdict.OURS));
      long changed = 0;
      for (Rule rule : chains.values().stream().flatMap(List::stream).toList()) {
        for (Step step : rule.steps) {
          changed |= step instanceof Step.SetMark set ? set.changes() : 0;
        }
      }
      return new Base(place, entry, drops, Map.copyOf(chains), ours, changed);
    }

    /** A chain with one rule. */
    static Base of(Place place, Step step, String text) {
      return of(place, "", false, Map.of("", List.of(new Rule(List.of(step), text))));
    }

    /** One that could not be read, and why. */
    static Base unreadable(Place place, String why) {
      return of(place, Step.Unknown.PATH, why);
    }
  }

  /**
   * Where a base chain runs.
   *
   * @param name for people: {@code iptables-nft POSTROUTING}, {@code table ip mine chain post}
   */
  record Place(ForeignText name, Stage stage, boolean nat, int priority) {
    static final int NF_IP_PRI_CONNTRACK = -200;
    static final int NF_IP_PRI_NAT_DST = -100;
    static final int NF_IP_PRI_NAT_SRC = 100;

    Place(String name, Stage stage, boolean nat, int priority) {
      this(new ForeignText(name), stage, nat, priority);
    }

    /** Nat chains run together, at one priority of the others, and by their own therein. */
    private int order() {
      return !nat ? priority : stage == Stage.POSTROUTING ? NF_IP_PRI_NAT_SRC : NF_IP_PRI_NAT_DST;
    }

    /** Whether connection tracking has not seen the packet yet. */
    boolean isBeforeTracking() {
      return stage != Stage.POSTROUTING && !nat && priority <= NF_IP_PRI_CONNTRACK;
    }

    /** What {@code notrack} does: it must come before tracking; at its priority, either may. */
    Optional<Step> untracked() {
      return !isBeforeTracking()
          ? Optional.empty()
          : Optional.of(
              priority < NF_IP_PRI_CONNTRACK ? Step.Verdict.KEEP : Step.Unknown.ADDRESSES);
    }

    /** What is known of a new connection's first packet, if tracking has seen it. */
    Test tracked(boolean holds) {
      return isBeforeTracking() ? Test.UNJUDGED : Test.of(holds);
    }

    /** That the packet came in, or leaves, by an interface of such a name. */
    Test link(boolean out, String pattern, Links links) {
      Optional<Interval> found = links.named(pattern);
      if (stage == (out ? Stage.PREROUTING : Stage.OUTPUT)) { // there is none
        return Test.of(found.filter(it -> it.contains(Links.NONE)).isPresent());
      }
      return found
          .map(it -> Test.of(out ? Cell.Field.OUT : Cell.Field.IN, it))
          .orElse(Step.In.NEVER);
    }
  }

  /** Where on its way a packet meets a chain. */
  enum Stage {
    /** Packets from elsewhere, before it is known how they leave. */
    PREROUTING,
    /** The node's own packets. */
    OUTPUT,
    /** All packets that leave. */
    POSTROUTING
  }

  /**
   * What packets of one family pass, and our policy.
   *
   * @param chains the base chains in order; those of one priority run in the order of their
   *     registration, which is not visible
   * @param unknownMarks the bits of the mark that rules elsewhere may set, which are not followed
   * @param rewriters rules elsewhere that may change a packet's addresses
   * @param ours empty: our rules are not there, or not readable
   * @param asksIpsets whether a rule asks one, whose content changes without a trace in the rules
   */
  record Hooks(
      List<List<Base>> chains,
      long unknownMarks,
      List<Placed> rewriters,
      Optional<Policy> ours,
      Links links,
      boolean asksIpsets) {
    static List<List<Base>> inOrder(List<Base> chains) {
      Map<Place, List<Base>> sorted =
          new TreeMap<>(
              Comparator.comparing(Place::stage)
                  .thenComparing(Place::order)
                  .thenComparing(Place::nat)
                  .thenComparing(Place::priority));
      chains.forEach(it -> sorted.computeIfAbsent(it.place, _ -> new ArrayList<>()).add(it));
      return List.copyOf(sorted.values());
    }

    boolean holdOurs() {
      return chains.stream().flatMap(List::stream).anyMatch(Base::holdsOurs);
    }
  }

  /** A rule in its base chain. */
  record Placed(ForeignText where, boolean nat, Rule rule) {
    Placed(Place place, Rule rule) {
      this(place.name, place.nat, rule);
    }

    Owner owner() {
      return Owner.of(where.text(), rule.text.text());
    }

    @Override
    public String toString() {
      return where + ": " + rule.text;
    }
  }
}
