package ipmasq.hook;

import ipmasq.hook.Decision.DecisionKind;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The nat postrouting hook of one family, with chains before it that keep packets from it.
 *
 * @param chains in the order in which they run
 * @param ours the policy of our rules; empty if there are none
 * @param marks rules of programs other than kube-proxy that may have marked packets before
 */
public record Hook(
    Family family, List<BaseChain> chains, Optional<Policy> ours, List<EarlierMark> marks) {
  public Hook {
    chains = new ArrayList<>(chains);
    chains.sort(Comparator.comparingInt(BaseChain::priority));
    chains = List.copyOf(chains);
    marks = List.copyOf(marks);
  }

  /** A hook before which only kube-proxy marks packets. */
  public Hook(Family family, List<BaseChain> chains, Optional<Policy> ours) {
    this(family, chains, ours, List.of());
  }

  /** Whether our rules are there, as far as could be read. */
  public boolean holdsOurs() {
    return chains.stream().anyMatch(Walk::leadsToOurs);
  }

  /** Those that these packets pass. */
  List<BaseChain> chainsFor(Flow flow) {
    return chains.stream().filter(chain -> chain.point().passes(flow)).toList();
  }

  /** The bits of the mark that rules here ask for. */
  public long askedBits() {
    long bits = 0;
    for (BaseChain chain : chains) {
      for (Rule rule : chain.rules()) {
        for (Condition condition : rule.conditions()) {
          bits |= condition.askedBits();
        }
      }
    }
    return bits;
  }

  /** The bits of the mark that may have been set in packets of this flow before. */
  long markedBits(Flow flow) {
    long bits = 0;
    for (EarlierMark mark : marks) {
      bits |= mark.mayMark(flow) ? mark.bits() : 0;
    }
    return bits;
  }

  /**
   * The rules that decide on these packets: those that may, up to the first that certainly does.
   */
  public List<Decision> decisions(Flow flow) {
    return new Walk(this, flow).decisions();
  }

  /** What happens to a packet. */
  public Actual actual(Flow flow) {
    return actual(decisions(flow));
  }

  /** What comes of these decisions. */
  public static Actual actual(List<Decision> decisions) {
    List<Decision> perhaps = new ArrayList<>();
    for (Decision decision : decisions) {
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
