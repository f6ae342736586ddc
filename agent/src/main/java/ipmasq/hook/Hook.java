package ipmasq.hook;

import ipmasq.hook.Decision.DecisionKind;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The nat postrouting hook of one family.
 *
 * @param chains in the order in which they run
 * @param ours the policy of our rules; empty if there are none
 * @param markedBits bits of the mark that programs other than kube-proxy may have set earlier
 */
public record Hook(Family family, List<BaseChain> chains, Optional<Policy> ours, long markedBits) {
  public Hook {
    chains = new ArrayList<>(chains);
    chains.sort(Comparator.comparingInt(BaseChain::priority));
    chains = List.copyOf(chains);
  }

  /** A hook before which only kube-proxy marks packets. */
  public Hook(Family family, List<BaseChain> chains, Optional<Policy> ours) {
    this(family, chains, ours, 0);
  }

  /** Whether our rules are there, as far as could be read. */
  public boolean holdsOurs() {
    return chains.stream().anyMatch(Walk::leadsToOurs);
  }

  /** Whether a rule here matches marks. */
  public boolean asksForMarks() {
    return chains.stream()
        .flatMap(chain -> chain.rules().stream())
        .flatMap(rule -> rule.conditions().stream())
        .anyMatch(c -> c instanceof Condition.Mark || c instanceof Condition.Not(Condition.Mark _));
  }

  /**
   * The rules that decide on these packets: those that may, up to the first that certainly does.
   */
  public List<Decision> decisions(Flow flow) {
    return new Walk(this, flow).decisions();
  }

  /** What happens to a packet. */
  public Actual actual(Flow flow) {
    List<Decision> perhaps = new ArrayList<>();
    for (Decision decision : decisions(flow)) {
      if (decision.kind() == DecisionKind.SHIELDED) {
        continue; // our rules are bypassed; the other decisions say what happens
      }
      perhaps.add(decision);
      if (decision.certain()) {
        return perhaps.stream().allMatch(other -> same(other, decision))
            ? certain(perhaps, decision)
            : new Actual.UnknownActual(perhaps);
      }
    }
    return perhaps.stream().allMatch(Hook::keeps)
        ? new Actual.Kept(Optional.empty())
        : new Actual.UnknownActual(perhaps);
  }

  /** The common result; the rule is named if there is only one. */
  @SuppressWarnings("ReferenceEquality") // two rules may read alike
  private static Actual certain(List<Decision> all, Decision last) {
    boolean alone = all.stream().allMatch(decision -> decision.rule() == last.rule());
    return switch (last.kind()) {
      case TRANSLATED, OURS -> new Actual.Translated(alone ? List.of(last) : all);
      case PINNED, KEPT -> new Actual.Kept(alone ? Optional.of(last) : Optional.empty());
      case DROPPED -> new Actual.Dropped(last);
      case SHIELDED, REDIRECTED, UNCLEAR -> new Actual.UnknownActual(all);
    };
  }

  /** Whether they all have the same result. */
  private static boolean same(Decision one, Decision other) {
    return translates(one) == translates(other)
        && keeps(one) == keeps(other)
        && one.kind() != DecisionKind.UNCLEAR
        && (one.kind() == DecisionKind.DROPPED) == (other.kind() == DecisionKind.DROPPED);
  }

  private static boolean keeps(Decision decision) {
    return decision.kind() == DecisionKind.KEPT || decision.kind() == DecisionKind.PINNED;
  }

  private static boolean translates(Decision decision) {
    return decision.kind() == DecisionKind.TRANSLATED || decision.kind() == DecisionKind.OURS;
  }
}
