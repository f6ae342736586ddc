package ipmasq.hook;

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
 * @param ours what our rules do; nothing where they are not there
 */
public record Hook(Family family, List<BaseChain> chains, Optional<Policy> ours) {
  public Hook {
    chains = new ArrayList<>(chains);
    chains.sort(Comparator.comparingInt(BaseChain::priority));
    chains = List.copyOf(chains);
  }

  /** Whether our rules stand there, as far as could be read. */
  public boolean holdsOurs() {
    return chains.stream().anyMatch(Walk::leadsToOurs);
  }

  /** The rules that decide on these packets: those that perhaps do, up to one that surely does. */
  public List<Decision> decisions(Flow flow) {
    return new Walk(this, flow).decisions();
  }

  /** What happens to a packet. */
  public sealed interface Fate {
    /** It keeps its source: no rule translates it. */
    record Untouched() implements Fate {}

    /** One rule decides. */
    record Decided(Decision decision) implements Fate {}

    /** It depends on what is not known of the packet, or on what these rules ask and we cannot. */
    record CannotTell(List<Decision> perhaps) implements Fate {}
  }

  public Fate fate(Flow flow) {
    List<Decision> decisions = decisions(flow);
    List<Decision> perhaps = new ArrayList<>();
    for (Decision decision : decisions) {
      if (decision.kind() == Decision.Kind.SHIELDED) {
        continue; // our rules are not asked; what others do is told by the others
      }
      if (!decision.certain()) {
        perhaps.add(decision);
      } else if (agree(perhaps, decision)) {
        return new Fate.Decided(decision);
      } else {
        perhaps.add(decision);
        return new Fate.CannotTell(perhaps);
      }
    }
    return perhaps.isEmpty() || keeps(perhaps)
        ? new Fate.Untouched()
        : new Fate.CannotTell(perhaps);
  }

  /** Whether it does not matter which of them decides. */
  private static boolean agree(List<Decision> perhaps, Decision last) {
    return perhaps.stream().allMatch(d -> translates(d) == translates(last) && clear(d));
  }

  private static boolean keeps(List<Decision> perhaps) {
    return perhaps.stream()
        .allMatch(d -> d.kind() == Decision.Kind.KEPT || d.kind() == Decision.Kind.PINNED);
  }

  private static boolean clear(Decision decision) {
    return decision.kind() != Decision.Kind.UNCLEAR && decision.kind() != Decision.Kind.DROPPED;
  }

  private static boolean translates(Decision decision) {
    return switch (decision.kind()) {
      case TRANSLATED, OURS -> true;
      case PINNED, KEPT, SHIELDED, DROPPED, UNCLEAR -> false;
    };
  }
}
