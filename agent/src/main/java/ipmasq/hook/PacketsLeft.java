package ipmasq.hook;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What is known of the packets that are still in a chain, because earlier rules took the others.
 *
 * <pre>
 *   -s 10.244.0.0/16 -d 10.0.0.0/8 -j RETURN
 *   -s 10.244.0.0/16 -j MASQUERADE               to 10.0.0.0/8: none is left from there
 * </pre>
 */
final class PacketsLeft {
  private final List<Condition> taken = new ArrayList<>();
  private final Set<Condition> doubts = new LinkedHashSet<>();

  PacketsLeft() {}

  /** The same, to be continued in another chain. */
  PacketsLeft(PacketsLeft other) {
    taken.addAll(other.taken);
    doubts.addAll(other.doubts);
  }

  /**
   * Packets for which all of these hold are gone.
   *
   * @param open conditions that could not be evaluated
   */
  void took(List<Condition> open) {
    if (open.size() == 1 && open.getFirst().understood()) {
      taken.add(open.getFirst());
    }
    doubts.addAll(unclear(open));
  }

  /** What is unclear of packets that a rule with these conditions left. */
  static List<Condition> unclear(List<Condition> open) {
    return open.stream().filter(c -> !c.understood()).map(Condition::not).toList();
  }

  /** What is known or unclear of them: the opposite of what took the others. */
  List<Condition> conditions() {
    List<Condition> all = new ArrayList<>(taken.stream().map(Condition::not).toList());
    all.addAll(doubts);
    return all;
  }

  /** Whether a condition holds for what is left, given whether it holds for all. */
  Truth narrow(Condition condition, Truth holds) {
    if (holds != Truth.MAYBE) {
      return holds;
    }
    return condition instanceof Condition.Not(var inner)
        ? isTaken(inner) ? Truth.YES : holds
        : isTaken(condition) ? Truth.NO : holds;
  }

  private boolean isTaken(Condition condition) {
    for (Condition gone : taken) {
      boolean within =
          gone instanceof Condition.Source(var all)
              && condition instanceof Condition.Source(var some)
              && all.hold(some) == Truth.YES;
      if (within || gone.equals(condition)) {
        return true;
      }
    }
    return false;
  }
}
