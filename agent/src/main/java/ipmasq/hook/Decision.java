package ipmasq.hook;

import java.util.ArrayList;
import java.util.List;

/**
 * A rule that decides, or may decide, on packets.
 *
 * @param certain whether it certainly does, for all of them
 * @param provided the conditions that could not be evaluated, on the path to the rule and in it
 */
public record Decision(
    BaseChain base, Rule rule, DecisionKind kind, boolean certain, List<Condition> provided) {

  /** What is decided. */
  public enum DecisionKind {
    /** Another program's rule translates them. */
    TRANSLATED,
    /** Our rules translate them. */
    OURS,
    /** Our rules bind them to their own source. */
    PINNED,
    /** Another program's rules do. */
    KEPT,
    /** Another program's rule ends the chain before our rules run. */
    SHIELDED,
    /** They are dropped. */
    DROPPED,
    /** They get another destination. */
    REDIRECTED,
    /** Something happens that cannot be judged. */
    UNCLEAR
  }

  public Decision {
    provided = List.copyOf(provided);
  }

  /** Whose rule it is. */
  public Owner owner() {
    return switch (kind) {
      case OURS, PINNED -> Owner.AGENT;
      case TRANSLATED, KEPT, SHIELDED, DROPPED, REDIRECTED, UNCLEAR -> Owner.of(base, rule);
    };
  }

  Decision perhaps() {
    return new Decision(base, rule, kind, false, provided);
  }

  /** Whether the conditions are understood, and only properties of the packets are unknown. */
  boolean understood() {
    return kind != DecisionKind.UNCLEAR && provided.stream().allMatch(Condition::understood);
  }

  /** Which packets it affects: {@code packets from 10.244.0.0/16, not to 224.0.0.0/4}. */
  public String packets() {
    List<String> phrases = new ArrayList<>();
    for (Condition condition : provided) {
      condition.phrase().filter(phrase -> !phrases.contains(phrase)).ifPresent(phrases::add);
    }
    return phrases.isEmpty() ? "packets" : "packets " + String.join(", ", phrases);
  }

  /** Its chain and its text. */
  public String place() {
    return base.name() + ": " + rule.text();
  }
}
