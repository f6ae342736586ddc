package ipmasq.evidence.neighbours;

import ipmasq.net.ForeignText;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A rule of any program.
 *
 * @param text as its own tool prints it, or how that tool shows it
 */
record Rule(List<Step> steps, ForeignText text) {
  Rule {
    List<Step> sorted = new ArrayList<>(steps);
    int tests = 0;
    while (tests < sorted.size() && sorted.get(tests) instanceof Step.Test) {
      tests++;
    }
    // What is certain comes first, so that less has to be assumed.
    sorted.subList(0, tests).sort(Comparator.comparingInt(Rule::doubt));
    steps = List.copyOf(sorted);
  }

  private static int doubt(Step test) {
    return switch (test) {
      case Step.Marked _, Step.Tracked _, Step.AnyOf _ -> 1;
      case Step.Member _, Step.Unjudged _ -> 2;
      default -> 0;
    };
  }

  /** Whether it does nothing that matters. */
  boolean isInert(boolean nat) {
    return steps.stream()
        .allMatch(
            step ->
                step instanceof Step.Test
                    || step instanceof Step.Continue
                    || !nat
                        && step instanceof Step.Unknown(var _, var effect)
                        && effect == Step.Effect.VERDICT);
  }

  Rule(List<Step> steps, String text) {
    this(steps, ForeignText.shortened(text));
  }

  /** The chain that it jumps to. */
  Optional<String> target() {
    return switch (steps.isEmpty() ? new Step.Return() : steps.getLast()) {
      case Step.Jump(var chain) -> Optional.of(chain);
      case Step.Goto(var chain) -> Optional.of(chain);
      default -> Optional.empty();
    };
  }

  /** The same with another last step. */
  Rule ending(Step last) {
    List<Step> changed = new ArrayList<>(steps);
    changed.set(changed.size() - 1, last);
    return new Rule(changed, text);
  }

  /** A chain that its hook calls, with the chains that it jumps to. */
  record Base(Place place, String entry, boolean drops, Map<String, List<Rule>> chains) {
    Base {
      chains = Map.copyOf(chains);
    }

    /** One that could not be read, and why. */
    static Base unreadable(Place place, String why) {
      Rule rule = new Rule(List.of(new Step.Unknown(why, Step.Effect.PATH)), why);
      return new Base(place, "", false, Map.of("", List.of(rule)));
    }

    List<Rule> rules() {
      return chains.values().stream().flatMap(List::stream).toList();
    }

    /** Whether the base chain itself leads to our rules. */
    boolean holdsOurs() {
      return chains.getOrDefault(entry, List.of()).stream()
          .anyMatch(rule -> rule.steps.contains(new Step.Ours()));
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

    /** All nat chains run together, at one priority of the others, and by their own therein. */
    int order() {
      return !nat ? priority : stage == Stage.POSTROUTING ? NF_IP_PRI_NAT_SRC : NF_IP_PRI_NAT_DST;
    }

    boolean isBeforeTracking() {
      return stage != Stage.POSTROUTING && !nat && priority <= NF_IP_PRI_CONNTRACK;
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
   * The base chains that packets of one family pass, in order, and our policy.
   *
   * @param unknownMarks the bits of the mark that rules elsewhere may set, which are not followed
   * @param rewriters rules elsewhere that may change a packet's addresses
   * @param ours empty: our rules are not there, or not readable
   */
  record Hooks(
      List<Base> chains, long unknownMarks, List<Placed> rewriters, Optional<Policy> ours) {
    Hooks {
      List<Base> sorted = new ArrayList<>(chains);
      sorted.sort(
          Comparator.comparing((Base base) -> base.place.stage)
              .thenComparing(base -> base.place.order())
              .thenComparing(base -> base.place.nat)
              .thenComparing(base -> base.place.priority));
      chains = List.copyOf(sorted);
      rewriters = List.copyOf(rewriters);
    }

    boolean holdOurs() {
      return chains.stream().anyMatch(Base::holdsOurs);
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
