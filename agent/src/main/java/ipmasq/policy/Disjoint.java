package ipmasq.policy;

import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * Nested ranges made disjoint, the longest prefix deciding.
 *
 * <p>Blocks never overlap halfway: one contains the other or they are apart. So a walk in order,
 * with the blocks that are open at this point on a stack, sees every border once:
 *
 * <pre>
 *   exempt    10.0.0.0/8   |------------------------|
 *   translate 10.1.0.0/16         |------|
 *   exempt    10.1.2.0/24           |-|
 *   exempt in all          |------|  |-|  |---------|
 * </pre>
 */
final class Disjoint {
  private final Deque<Destination> open = new ArrayDeque<>();
  private final List<Cidr> exempt = new ArrayList<>();
  private Optional<Ip> from = Optional.empty(); // where the range that is being walked begins

  private Disjoint() {}

  static List<Cidr> exempt(List<Destination> destinations) {
    Disjoint walk = new Disjoint();
    destinations.stream().sorted(Comparator.comparing(Destination::range)).forEach(walk::enter);
    while (!walk.open.isEmpty()) {
      walk.leave();
    }
    return List.copyOf(walk.exempt);
  }

  private void enter(Destination next) {
    while (!open.isEmpty() && !open.peek().range().contains(next.range())) {
      leave();
    }
    if (treatment() != next.treatment()) {
      if (treatment() == Treatment.EXEMPT) {
        emit(from, next.range().first().previous());
      }
      from = Optional.of(next.range().first());
    }
    open.push(next);
  }

  private void leave() {
    Destination closed = open.pop();
    if (treatment() != closed.treatment()) {
      if (closed.treatment() == Treatment.EXEMPT) {
        emit(from, Optional.of(closed.range().last()));
      }
      from = closed.range().last().next();
    }
  }

  /** What happens here by the blocks that are open; outside all of them packets are translated. */
  private Treatment treatment() {
    return open.isEmpty() ? Treatment.TRANSLATE : open.peek().treatment();
  }

  /** Empty where a nested block began, or ended, right at the border of the outer one. */
  private void emit(Optional<Ip> first, Optional<Ip> last) {
    if (first.isPresent() && last.isPresent() && first.get().compareTo(last.get()) <= 0) {
      exempt.addAll(new IpRange(first.get(), last.get()).blocks());
    }
  }
}
