package ipmasq.hook.nftables;

import ipmasq.hook.Condition;
import java.util.List;

/**
 * A match of iptables.
 *
 * @param conditions what it asks of a packet; all must hold
 * @param text as iptables prints it; an ellipsis stands for options that are not known
 */
record XtMatch(List<Condition> conditions, String text) {
  XtMatch {
    conditions = List.copyOf(conditions);
  }

  /** One that may match. */
  static XtMatch unknown(String text) {
    return new XtMatch(List.of(new Condition.UnknownCondition(text)), text);
  }
}
