package ipmasq.hook;

import java.util.ArrayList;
import java.util.List;

/**
 * A rule that decides on packets, for sure or perhaps.
 *
 * @param certain whether it does, for all of them
 * @param provided the conditions that could not be told, on the way to the rule and in it
 */
public record Decision(
    BaseChain base, Rule rule, DecisionKind kind, boolean certain, List<Condition> provided) {

  /** What is decided. */
  public enum DecisionKind {
    /** Somebody else's rule translates them. */
    TRANSLATED,
    /** Our rules translate them. */
    OURS,
    /** Our rules bind them to the source that they have. */
    PINNED,
    /** Somebody else's do. */
    KEPT,
    /** Somebody else's rule ends the chain before our rules are asked. */
    SHIELDED,
    /** They go nowhere. */
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

  /** Whether all that could not be told is merely not known of the packets. */
  boolean understood() {
    return kind != DecisionKind.UNCLEAR && provided.stream().allMatch(Condition::understood);
  }

  /** Which packets it is about: {@code packets from 10.244.0.0/16, not to 224.0.0.0/4}. */
  public String packets() {
    List<String> phrases = new ArrayList<>();
    for (Condition condition : provided) {
      condition.phrase().filter(phrase -> !phrases.contains(phrase)).ifPresent(phrases::add);
    }
    return phrases.isEmpty() ? "packets" : "packets " + String.join(", ", phrases);
  }

  /** Where it stands and what it says. */
  public String place() {
    return base.name() + ": " + rule.text();
  }
}
