package ipmasq.policy;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import java.util.ArrayDeque;
import java.util.ArrayList;
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
  private final Cidrs.Collector exempt = new Cidrs.Collector();
  private Optional<Ip> from = Optional.empty(); // where the range that is being walked begins

  private Disjoint() {}

  /** The exempt ranges, in order. */
  static Cidrs exempt(Destinations destinations) {
    if (destinations.allExempt()) {
      return destinations.ranges().outermost(); // the same, and quick where there are many
    }
    List<Destination> sorted = new ArrayList<>(destinations);
    sorted.sort((a, b) -> a.range().compareTo(b.range()));
    Disjoint walk = new Disjoint();
    for (Destination destination : sorted) {
      walk.enter(destination);
    }
    while (!walk.open.isEmpty()) {
      walk.leave();
    }
    return Cidrs.copyOf(walk.exempt);
  }

  private void enter(Destination next) {
    while (!open.isEmpty() && !open.peek().range().contains(next.range())) {
      leave();
    }
    if (!open.isEmpty() && open.peek().range().equals(next.range())) {
      return; // the first that holds a packet decides
    }
    if (treatment() != next.treatment()) {
      if (treatment() == Treatment.EXEMPT) {
        emit(open.peek(), next.range().first().previous());
      }
      from = Optional.of(next.range().first());
    }
    open.push(next);
  }

  private void leave() {
    Destination closed = open.pop();
    if (treatment() != closed.treatment()) {
      Ip last = closed.range().last();
      if (closed.treatment() == Treatment.EXEMPT) {
        emit(closed, Optional.of(last));
      }
      from = last.next();
    }
  }

  /** What happens here by the blocks that are open; outside all of them packets are translated. */
  private Treatment treatment() {
    return open.isEmpty() ? Treatment.TRANSLATE : open.peek().treatment();
  }

  /** Empty if a nested block began, or ended, right at the border of the outer one. */
  private void emit(Destination of, Optional<Ip> last) {
    if (from.isEmpty() || last.isEmpty() || from.get().compareTo(last.get()) > 0) {
      return;
    }
    Cidr whole = of.range();
    if (from.get().equals(whole.first()) && last.get().equals(whole.last())) {
      exempt.add(whole);
    } else {
      exempt.addAll(new IpRange(from.get(), last.get()).blocks());
    }
  }
}
