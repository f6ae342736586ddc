package ipmasq.hook;

import java.util.List;

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
}
