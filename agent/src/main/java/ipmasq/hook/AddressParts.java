package ipmasq.hook;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * Parts of the address space whose destinations no rule distinguishes.
 *
 * <pre>
 *   rules     |----- 10.0.0.0/8 -----|          |-- 172.20.0.0/16 --|
 *   parts  1  |          2           |    3     |         4         |    5
 * </pre>
 */
final class AddressParts {
  private final Family family;
  private final TreeSet<Ip> starts = new TreeSet<>();

  private AddressParts(Family family) {
    this.family = family;
  }

  /** The address space, cut where a range of a rule begins or ends. */
  static List<IpRange> of(Hook hook, List<Rule> rules, List<Cidr> more) {
    IpRange all = IpRange.of(hook.family().all());
    AddressParts parts = new AddressParts(hook.family());
    parts.starts.add(all.first());
    more.forEach(block -> parts.cut(IpRange.of(block)));
    for (Rule rule : rules) {
      rule.conditions().forEach(parts::cut);
    }
    for (EarlierMark mark : hook.marks()) {
      mark.path().forEach(parts::cut);
    }
    List<IpRange> ranges = new ArrayList<>(parts.starts.size());
    Ip first = null;
    for (Ip start : parts.starts) {
      if (first != null) {
        ranges.add(new IpRange(first, start.previous().orElseThrow()));
      }
      first = start;
    }
    ranges.add(new IpRange(first == null ? all.first() : first, all.last()));
    return ranges;
  }

  private void cut(Condition condition) {
    switch (condition) {
      case Condition.Destination(var ranges) -> ranges.list().forEach(range -> cut(range));
      case Condition.Not(var inner) -> cut(inner);
      case Condition.AnyOf(var alternatives, var _) ->
          alternatives.forEach(all -> all.forEach(this::cut));
      default -> {}
    }
  }

  private void cut(IpRange range) {
    if (range.family() == family) {
      starts.add(range.first());
      range.last().next().ifPresent(starts::add);
    }
  }
}
