package ipmasq.hook;

import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** What a rule asks of a packet. */
public sealed interface Condition {
  /** Whether the packets are such, given that nothing has marked them. */
  default Truth holds(Flow flow) {
    return switch (this) {
      case Not(var condition) -> condition.holds(flow).not();
      case Source(var ranges) -> inside(flow.sources(), ranges);
      case Destination(var ranges) -> inside(flow.destination(), ranges);
      case Out(var names) -> named(flow.interfaces(), names);
      case Protocol(var name) ->
          flow.protocol().map(protocol -> Truth.of(protocol.equals(name))).orElse(Truth.MAYBE);
      case Port(var ranges) -> port(flow.port(), ranges);
      case Mark(var value, var _) -> Truth.of(value == 0);
      case LocalDestination() -> Truth.of(flow.local());
      case Unknown _ -> Truth.MAYBE;
    };
  }

  /** The opposite. */
  record Not(Condition condition) implements Condition {}

  /** It comes from one of these. */
  record Source(List<IpRange> ranges) implements Condition {
    public Source {
      ranges = List.copyOf(ranges);
    }
  }

  /** It goes to one of these. */
  record Destination(List<IpRange> ranges) implements Condition {
    public Destination {
      ranges = List.copyOf(ranges);
    }
  }

  /** It leaves by an interface of one of these names; a trailing {@code +} takes any ending. */
  record Out(List<String> names) implements Condition {
    public Out {
      names = List.copyOf(names);
    }
  }

  record Protocol(String name) implements Condition {}

  /** It goes to one of these ports. */
  record Port(List<PortRange> ranges) implements Condition {
    public Port {
      ranges = List.copyOf(ranges);
    }
  }

  /** These bits of its mark have this value. */
  record Mark(long value, long mask) implements Condition {}

  /** It goes to the node itself. */
  record LocalDestination() implements Condition {}

  /** Something that this agent cannot judge, in the rule's own words. */
  record Unknown(String text) implements Condition {}

  static Condition source(Cidr block) {
    return new Source(List.of(IpRange.of(block)));
  }

  static Condition destination(Cidr block) {
    return new Destination(List.of(IpRange.of(block)));
  }

  /** This, or its opposite. */
  default Condition negatedIf(boolean negated) {
    return negated ? new Not(this) : this;
  }

  private static Truth inside(List<Cidr> blocks, List<IpRange> ranges) {
    List<Truth> each = new ArrayList<>();
    for (Cidr block : blocks) {
      each.add(inside(block, ranges));
    }
    return Truth.together(each);
  }

  private static Truth inside(Cidr block, List<IpRange> ranges) {
    Truth any = Truth.NO;
    Ip first = block.first();
    Ip last = block.last();
    for (IpRange range : ranges) {
      if (range.family() != block.family()) {
        continue;
      }
      if (range.contains(first) && range.contains(last)) {
        return Truth.YES;
      }
      boolean apart = last.compareTo(range.first()) < 0 || first.compareTo(range.last()) > 0;
      any = any.or(apart ? Truth.NO : Truth.MAYBE);
    }
    return any;
  }

  private static Truth named(List<String> outs, List<String> names) {
    List<Truth> each = new ArrayList<>();
    for (String out : outs) {
      Truth any = Truth.NO;
      for (String name : names) {
        any = any.or(named(out, name));
      }
      each.add(any);
    }
    return Truth.together(each);
  }

  /** Of both a trailing {@code +} may take any ending. */
  private static Truth named(String out, String name) {
    String beginning = name.endsWith("+") ? name.substring(0, name.length() - 1) : name;
    if (!out.endsWith("+")) {
      return Truth.of(name.endsWith("+") ? out.startsWith(beginning) : out.equals(name));
    }
    String known = out.substring(0, out.length() - 1);
    if (name.endsWith("+") && known.startsWith(beginning)) {
      return Truth.YES;
    }
    return beginning.startsWith(known) ? Truth.MAYBE : Truth.NO;
  }

  private static Truth port(OptionalInt port, List<PortRange> ranges) {
    if (port.isEmpty()) {
      return Truth.MAYBE;
    }
    for (PortRange range : ranges) {
      if (range.first() <= port.getAsInt() && port.getAsInt() <= range.last()) {
        return Truth.YES;
      }
    }
    return Truth.NO;
  }

  /** For people: {@code packets from 10.244.0.0/16}, {@code packets that leave by docker0}. */
  default Optional<String> phrase() {
    return switch (this) {
      case Source(var ranges) -> Optional.of("from " + list(ranges));
      case Destination(var ranges) -> Optional.of("to " + list(ranges));
      case Out(var names) -> Optional.of("out of " + list(names));
      case Protocol(var name) -> Optional.of(name);
      case Port(var ranges) -> Optional.of("to port " + list(ranges));
      case Mark _ -> Optional.of("with its mark");
      case LocalDestination() -> Optional.of("to the node itself");
      case Unknown(var text) -> Optional.of("with " + text);
      case Not(Source(var ranges)) -> Optional.of("not from " + list(ranges));
      case Not(Destination(var ranges)) -> Optional.of("not to " + list(ranges));
      case Not(Out(var names)) -> Optional.of("not out of " + list(names));
      case Not(Unknown(var text)) -> Optional.of("without " + text);
      case Not _ -> Optional.empty();
    };
  }

  private static String list(List<?> ranges) {
    StringBuilder text = new StringBuilder();
    for (Object range : ranges.subList(0, Math.min(ranges.size(), 3))) {
      String one =
          range instanceof IpRange r && r.blocks().size() == 1
              ? block(r.blocks().getFirst())
              : range.toString();
      text.append(text.isEmpty() ? "" : ", ").append(one);
    }
    return ranges.size() > 3 ? text + " and more" : text.toString();
  }

  private static String block(Cidr cidr) {
    return cidr.prefix() == cidr.family().bits() ? cidr.first().toString() : cidr.toString();
  }
}
