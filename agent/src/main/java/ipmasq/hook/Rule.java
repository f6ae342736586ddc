package ipmasq.hook;

import java.util.List;
import java.util.Optional;

/**
 * A rule of the hook.
 *
 * @param conditions all of which must hold
 * @param text as the tool that wrote it would print it
 */
public record Rule(List<Condition> conditions, Action action, String text) {
  public Rule {
    conditions = List.copyOf(conditions);
  }

  /** The sources that it is limited to; empty if it does not name them. */
  Optional<AddressRanges> sources() {
    for (Condition condition : conditions) {
      if (condition instanceof Condition.Source(var ranges)) {
        return Optional.of(ranges);
      }
    }
    return Optional.empty();
  }

  /** The mark that it sets. */
  Optional<Action.SetMark> mark() {
    return switch (action) {
      case Action.SetMark set -> Optional.of(set);
      case Action.MarkAnd(var set, var _) -> Optional.of(set);
      default -> Optional.empty();
    };
  }

  /** The chain that it leads to. */
  public Optional<String> target() {
    return switch (action instanceof Action.MarkAnd(var _, var then) ? then : action) {
      case Action.Jump(var chain) -> Optional.of(chain);
      case Action.Goto(var chain) -> Optional.of(chain);
      default -> Optional.empty();
    };
  }
}
