package ipmasq.hook;

import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A condition that a rule puts on a packet. */
public sealed interface Condition {
  /** Whether it holds for the packets. */
  default Truth holds(Flow flow, Marks marks) {
    return switch (this) {
      case Not(var condition) -> condition.holds(flow, marks).not();
      case AnyOf(var alternatives, var _) -> any(alternatives, flow, marks);
      case Source(var ranges) -> flow.sources().map(ranges::hold).orElse(Truth.MAYBE);
      case Destination(var ranges) -> ranges.hold(flow.destination());
      case Out(var names) -> by(flow.interfaces(), names);
      case In(var names) -> by(flow.cameBy().stream().toList(), names);
      case SourcePort _ -> Truth.MAYBE;
      case Protocol(var name) ->
          flow.protocol().map(protocol -> Truth.of(protocol.equals(name))).orElse(Truth.MAYBE);
      case Port(var ranges) -> port(flow.port(), ranges);
      case Mark(var value, var mask) -> marks.are(value, mask);
      case LocalDestination() -> Truth.of(flow.local());
      case LocalSource() -> flow.ofNode();
      case Member(var keys, var set) -> asked(keys, set, flow);
      case UnknownCondition _ -> Truth.MAYBE;
    };
  }

  /** The bits of the mark that it asks for. */
  default long askedBits() {
    return switch (this) {
      case Mark(var _, var mask) -> mask;
      case Not(var condition) -> condition.askedBits();
      case AnyOf(var alternatives, var _) -> {
        long bits = 0;
        for (List<Condition> all : alternatives) {
          for (Condition condition : all) {
            bits |= condition.askedBits();
          }
        }
        yield bits;
      }
      default -> 0;
    };
  }

  /** Whether it may hold for a destination, whatever the other properties of the packets. */
  default boolean mayConcern(Ip destination) {
    return switch (this) {
      case Destination(var ranges) ->
          ranges.hold(new IpRange(destination, destination)) != Truth.NO;
      case Not(Destination(var ranges)) ->
          ranges.hold(new IpRange(destination, destination)) != Truth.YES;
      default -> true;
    };
  }

  /** The opposite. */
  record Not(Condition condition) implements Condition {}

  /**
   * All conditions of one of these hold.
   *
   * @param name for people
   */
  record AnyOf(List<List<Condition>> alternatives, String name) implements Condition {
    /** Holds for every packet. */
    public static final Condition ALWAYS = new AnyOf(List.of(List.of()), "all packets");

    /** Holds for no packet. */
    public static final Condition NEVER = new AnyOf(List.of(), "no packets");

    public AnyOf {
      alternatives = List.copyOf(alternatives);
    }
  }

  /** It comes from one of these. */
  record Source(AddressRanges ranges) implements Condition {}

  /** It goes to one of these. */
  record Destination(AddressRanges ranges) implements Condition {}

  /** It leaves by an interface of one of these names; a trailing {@code +} matches any suffix. */
  record Out(List<String> names) implements Condition {
    public Out {
      names = List.copyOf(names);
    }
  }

  /** It came in by an interface of one of these names. */
  record In(List<String> names) implements Condition {
    public In {
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

  /** It comes from certain ports. */
  record SourcePort(String text) implements Condition {}

  /** These bits of its mark have this value. */
  record Mark(long value, long mask) implements Condition {}

  /** It goes to the node itself. */
  record LocalDestination() implements Condition {}

  /** It comes from the node itself. */
  record LocalSource() implements Condition {}

  /** It is in a set that is too large to read. */
  record Member(List<SetKey> keys, ElementSet set) implements Condition {
    public Member {
      keys = List.copyOf(keys);
    }
  }

  /** Something that this agent cannot judge, in the rule's own words. */
  record UnknownCondition(String text) implements Condition {}

  static Condition source(Cidr block) {
    return new Source(AddressRanges.of(IpRange.of(block)));
  }

  static Condition destination(Cidr block) {
    return new Destination(AddressRanges.of(IpRange.of(block)));
  }

  /** This, or its opposite. */
  default Condition negatedIf(boolean negated) {
    return negated ? new Not(this) : this;
  }

  /** The opposite. */
  default Condition not() {
    return this instanceof Not(var inner) ? inner : new Not(this);
  }

  /**
   * Whether this agent understands the condition, even if its answer for these packets is unknown.
   */
  default boolean understood() {
    return switch (this) {
      case Not(var condition) -> condition.understood();
      case AnyOf(var alternatives, var _) ->
          alternatives.stream().allMatch(all -> all.stream().allMatch(Condition::understood));
      case UnknownCondition _, Member _, Mark _ -> false;
      case Source _,
          Destination _,
          Out _,
          In _,
          Protocol _,
          Port _,
          SourcePort _,
          LocalDestination _,
          LocalSource _ ->
          true;
    };
  }

  private static Truth any(List<List<Condition>> alternatives, Flow flow, Marks marks) {
    Truth any = Truth.NO;
    for (List<Condition> all : alternatives) {
      Truth truth = Truth.YES;
      for (Condition condition : all) {
        truth = truth.and(condition.holds(flow, marks));
      }
      any = any.or(truth);
    }
    return any;
  }

  private static Truth asked(List<SetKey> keys, ElementSet set, Flow flow) {
    Optional<byte[]> key = SetKey.of(keys, flow);
    if (key.isEmpty()) {
      return Truth.MAYBE;
    }
    return switch (set.ask(key.get())) {
      case ElementSet.ElementAnswer.Present _ -> Truth.YES;
      case ElementSet.ElementAnswer.Absent() -> Truth.NO;
      case ElementSet.ElementAnswer.NoAnswer() -> Truth.MAYBE;
    };
  }

  /** Whether interfaces, each of which is possible, have one of these names. */
  static Truth by(List<String> outs, List<String> names) {
    boolean some = false;
    boolean all = !outs.isEmpty();
    for (String out : outs) {
      Truth any = Truth.NO;
      for (String name : names) {
        any = any.or(named(out, name));
      }
      some |= any != Truth.NO;
      all &= any == Truth.YES;
    }
    return outs.isEmpty() || some && !all ? Truth.MAYBE : Truth.of(all);
  }

  /** In both a trailing {@code +} matches any suffix. */
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
      case Source(var ranges) -> Optional.of("from " + list(ranges.list()));
      case Destination(var ranges) -> Optional.of("to " + list(ranges.list()));
      case Out(var names) -> Optional.of("out of " + list(names));
      case In(var names) -> Optional.of("that came in by " + list(names));
      case Protocol(var name) -> Optional.of(name);
      case Port(var ranges) -> Optional.of("to port " + list(ranges));
      case SourcePort(var text) -> Optional.of("from port " + text);
      case Mark _ -> Optional.of("with its mark");
      case LocalDestination() -> Optional.of("to the node itself");
      case LocalSource() -> Optional.of("from the node itself");
      case AnyOf(var _, var name) -> Optional.of("in " + name);
      case Member(var _, var set) -> Optional.of("in " + set.name());
      case UnknownCondition(var text) -> Optional.of("with " + text);
      case Not(Source(var ranges)) -> Optional.of("not from " + list(ranges.list()));
      case Not(Destination(var ranges)) -> Optional.of("not to " + list(ranges.list()));
      case Not(Out(var names)) -> Optional.of("not out of " + list(names));
      case Not(In(var names)) -> Optional.of("that did not come in by " + list(names));
      case Not(Protocol(var name)) -> Optional.of("not " + name);
      case Not(Port(var ranges)) -> Optional.of("not to port " + list(ranges));
      case Not(Mark _) -> Optional.of("without its mark");
      case Not(AnyOf(var _, var name)) -> Optional.of("not in " + name);
      case Not(Member(var _, var set)) -> Optional.of("not in " + set.name());
      case Not(UnknownCondition(var text)) -> Optional.of("without " + text);
      case Not _ -> Optional.empty();
    };
  }

  private static String list(List<?> ranges) {
    StringBuilder text = new StringBuilder();
    for (Object range : ranges.subList(0, Math.min(ranges.size(), 3))) {
      text.append(text.isEmpty() ? "" : ", ").append(range instanceof IpRange r ? text(r) : range);
    }
    return ranges.size() > 3 ? text + " and more" : text.toString();
  }

  /** A block or an address as such, any other range by its ends. */
  static String text(IpRange range) {
    Ip first = range.first();
    return first.equals(range.last())
        ? first.toString()
        : range.block().map(Cidr::toString).orElse(range.toString());
  }
}
