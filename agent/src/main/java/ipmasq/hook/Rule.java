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

  /** The chain that it leads to. */
  public Optional<String> target() {
    return switch (action instanceof Action.MarkAnd(var _, var then) ? then : action) {
      case Action.Jump(var chain) -> Optional.of(chain);
      case Action.Goto(var chain) -> Optional.of(chain);
      default -> Optional.empty();
    };
  }
}
