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
  /** Packets for which all conditions of one of these hold are gone. */
  private final List<List<Condition>> taken = new ArrayList<>();

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
    if (!open.isEmpty() && open.stream().allMatch(Condition::understood)) {
      taken.add(List.copyOf(open));
    }
    open.stream().filter(c -> !c.understood()).map(Condition::not).forEach(doubts::add);
  }

  /** What is known or unclear of them: the opposite of what took the others. */
  List<Condition> conditions() {
    List<Condition> all = new ArrayList<>();
    taken.stream().filter(gone -> gone.size() == 1).forEach(gone -> all.add(gone.getFirst().not()));
    all.addAll(doubts);
    return all;
  }

  /** Whether none is left that meets these conditions. */
  boolean excludes(List<Condition> conditions) {
    return taken.stream()
        .anyMatch(gone -> gone.stream().allMatch(each -> isImplied(each, conditions)));
  }

  private static boolean isImplied(Condition condition, List<Condition> by) {
    return by.stream().anyMatch(each -> Implication.implies(each, condition));
  }

  /** Whether a condition that could not be evaluated holds for what is left. */
  boolean implies(Condition condition) {
    return taken.stream()
        .anyMatch(
            gone -> gone.size() == 1 && Implication.implies(gone.getFirst().not(), condition));
  }
}
