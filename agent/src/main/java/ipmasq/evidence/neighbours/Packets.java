package ipmasq.evidence.neighbours;

import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy.Treatment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Packets that no rule so far tells apart, each the first of its connection: one packet, where the
 * question says all of it.
 *
 * @param ofNode whether the node itself sends them
 * @param local whether they go to the node itself
 * @param treatment what our policy does to their destinations; only those are meant
 * @param fields the values that each field may have
 * @param in the interfaces that they may come in by; none if the node itself sends them
 * @param out the interfaces that they may leave by
 */
record Packets(
    Family family,
    boolean ofNode,
    boolean local,
    Treatment treatment,
    Map<Field, Ranges> fields,
    List<String> in,
    List<String> out,
    Mark mark) {

  /** What rules test by number. */
  enum Field {
    SOURCE,
    DESTINATION,
    PROTOCOL,
    SOURCE_PORT,
    PORT;

    /** All values that packets have. */
    Ranges all(Family family) {
      return switch (this) {
        case SOURCE, DESTINATION -> Ranges.of(List.of(family.all()));
        case PROTOCOL -> Ranges.of(0, 255);
        case SOURCE_PORT, PORT -> Ranges.of(0, 65535);
      };
    }
  }

  /**
   * What is known of a packet's mark.
   *
   * @param unknown the bits that may be anything
   */
  record Mark(long value, long unknown) {
    private static final long ALL = 0xffff_ffffL;
    static final Mark ZERO = new Mark(0, 0);

    Mark or(long bits) {
      return new Mark(value & ~bits, unknown | bits);
    }

    Mark after(Step.SetMark set) {
      return new Mark(
          (value & set.and() ^ set.xor()) & ALL & ~set.unknown(),
          (unknown & set.and() | set.unknown()) & ALL);
    }
  }

  static Packets to(Ip destination, Treatment treatment, List<String> links) {
    Packets any = any(destination.family(), treatment, links);
    return any.with(Field.DESTINATION, Ranges.of(destination));
  }

  static Packets any(Family family, Treatment treatment, List<String> links) {
    Map<Field, Ranges> fields = new EnumMap<>(Field.class);
    for (Field field : Field.values()) {
      fields.put(field, field.all(family));
    }
    return new Packets(family, false, false, treatment, fields, links, links, Mark.ZERO);
  }

  Ranges get(Field field) {
    return fields.getOrDefault(field, Ranges.NONE);
  }

  Packets with(Field field, Ranges ranges) {
    Map<Field, Ranges> changed = new EnumMap<>(fields);
    changed.put(field, ranges);
    return new Packets(family, ofNode, local, treatment, changed, in, out, mark);
  }

  Packets treated(Treatment other) {
    return new Packets(family, ofNode, local, other, fields, in, out, mark);
  }

  Packets with(Mark changed) {
    return new Packets(family, ofNode, local, treatment, fields, in, out, changed);
  }

  Packets from(Ip source, boolean isOfNode, List<String> by) {
    Packets packets = with(Field.SOURCE, Ranges.of(source));
    return new Packets(
        family, isOfNode, local, treatment, packets.fields, isOfNode ? List.of() : by, out, mark);
  }

  Packets through(List<String> comeBy, List<String> leaveBy) {
    return new Packets(family, ofNode, local, treatment, fields, comeBy, leaveBy, mark);
  }

  Packets local(boolean isLocal) {
    return new Packets(family, ofNode, isLocal, treatment, fields, in, out, mark);
  }

  /** The one source, if there is only one. */
  Optional<Ip> source() {
    return get(Field.SOURCE).isSingle()
        ? Optional.of(Ranges.address(get(Field.SOURCE).any(), family))
        : Optional.empty();
  }

  /** Whether some packets are in both. */
  boolean meet(Packets other) {
    return treatment == other.treatment
        && fields.keySet().stream().allMatch(field -> get(field).meets(other.get(field)))
        && (in.isEmpty() || in.stream().anyMatch(other.in::contains))
        && (out.isEmpty() || out.stream().anyMatch(other.out::contains));
  }

  /** Of these interfaces, those whose name a rule means, or the others. */
  static List<String> named(List<String> links, List<String> patterns, boolean or) {
    List<String> found = new ArrayList<>();
    for (String link : links) {
      if (patterns.stream().anyMatch(pattern -> isNamed(link, pattern)) == or) {
        found.add(link);
      }
    }
    return found;
  }

  /** A trailing {@code +} matches any suffix. */
  private static boolean isNamed(String link, String pattern) {
    return pattern.endsWith("+")
        ? link.startsWith(pattern.substring(0, pattern.length() - 1))
        : link.equals(pattern);
  }
}
