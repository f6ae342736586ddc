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
 * Makes nested ranges disjoint; the longest prefix wins.
 *
 * <p>Blocks never overlap in part: one contains the other or they are disjoint. So a sorted walk
 * with the enclosing blocks on a stack sees every border once:
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
  private Optional<Ip> from = Optional.empty(); // start of the current range

  private Disjoint() {}

  /** The exempt ranges, in order. */
  static Cidrs exempt(Destinations destinations) {
    if (destinations.allExempt()) {
      return destinations.ranges().outermost(); // the same, and faster for many
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

  /** The treatment by the innermost enclosing block; outside all blocks packets are translated. */
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
