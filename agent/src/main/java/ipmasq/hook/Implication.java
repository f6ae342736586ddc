package ipmasq.hook;

import ipmasq.hook.Condition.AnyOf;
import ipmasq.net.PortRange;
import java.util.List;

/** What one condition on a packet says about another. */
final class Implication {
  private Implication() {}

  /** Whether the second holds wherever the first does. */
  static boolean implies(Condition one, Condition other) {
    if (one.equals(other)) {
      return true;
    }
    if (one instanceof AnyOf(var alternatives, var _)) {
      return alternatives.stream().allMatch(all -> impliesOneOf(all, other));
    }
    return switch (other) {
      case Condition.Not(var inner) -> excludes(one, inner);
      case Condition.Source(var all) ->
          one instanceof Condition.Source(var some) && all.hold(some) == Truth.YES;
      case Condition.Destination(var all) ->
          one instanceof Condition.Destination(var some) && all.hold(some) == Truth.YES;
      case Condition.Out(var all) ->
          one instanceof Condition.Out(var some) && Condition.by(some, all) == Truth.YES;
      case Condition.In(var all) ->
          one instanceof Condition.In(var some) && Condition.by(some, all) == Truth.YES;
      case Condition.Port(var all) ->
          one instanceof Condition.Port(var some)
              && some.stream().allMatch(range -> isWithin(range, all));
      case AnyOf(var alternatives, var _) ->
          alternatives.stream().anyMatch(all -> all.stream().allMatch(each -> implies(one, each)));
      default -> false;
    };
  }

  private static boolean impliesOneOf(List<Condition> all, Condition other) {
    return all.stream().anyMatch(each -> implies(each, other));
  }

  private static boolean isWithin(PortRange range, List<PortRange> ranges) {
    return ranges.stream().anyMatch(r -> r.first() <= range.first() && range.last() <= r.last());
  }

  /** Whether both never hold. */
  static boolean excludes(Condition one, Condition other) {
    return switch (one) {
      case Condition.Not(var inner) -> implies(other, inner);
      case Condition.Source(var some) ->
          other instanceof Condition.Source(var all) && all.hold(some) == Truth.NO
              || other instanceof Condition.Not(var inner) && implies(one, inner);
      case Condition.Protocol(var some) ->
          other instanceof Condition.Protocol(var all) && !all.equals(some)
              || other instanceof Condition.Not(var inner) && implies(one, inner);
      default -> other instanceof Condition.Not(var inner) && implies(one, inner);
    };
  }
}
