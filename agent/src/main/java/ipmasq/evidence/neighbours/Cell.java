package ipmasq.evidence.neighbours;

import ipmasq.net.Family;
import ipmasq.policy.Policy.Treatment;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/**
 * Packets that no rule tells apart, each the first of its connection; of a question that leaves
 * nothing open, one packet.
 *
 * @param treatment what our policy does to their destinations; only those are meant
 * @param named whether somebody asked for this very source
 * @param sides the values of each field, by its ordinal
 */
record Cell(Treatment treatment, boolean named, List<Interval> sides) {
  static final Interval NO = Interval.of(0, 0);
  static final Interval YES = Interval.of(1, 1);

  Cell {
    sides = List.copyOf(sides);
  }

  /** What rules test. */
  enum Field {
    SOURCE,
    DESTINATION,
    PROTOCOL,
    SOURCE_PORT,
    PORT,
    /** Interfaces, by their numbers in {@link Links}. */
    IN,
    OUT,
    /** Whether the node itself sends it. */
    FROM_NODE,
    /** Whether it goes to the node itself. */
    TO_NODE;

    /** All values that packets between others have. */
    Interval all(Family family, Links links) {
      return switch (this) {
        case SOURCE, DESTINATION -> Interval.of(family.all());
        case PROTOCOL -> Interval.of(0, 255);
        case SOURCE_PORT, PORT -> Interval.of(0, 65535);
        case IN, OUT -> links.all();
        case FROM_NODE, TO_NODE -> NO;
      };
    }
  }

  /** All packets between others than the node. */
  static Cell any(Family family, Treatment treatment, Links links) {
    List<Interval> sides = new ArrayList<>();
    for (Field field : Field.values()) {
      sides.add(field.all(family, links));
    }
    return new Cell(treatment, false, sides);
  }

  /** Packets from this source. */
  Cell from(Interval source) {
    return new Cell(treatment, true, with(Field.SOURCE, source).sides);
  }

  Interval get(Field field) {
    return sides.get(field.ordinal());
  }

  Cell with(Field field, Interval values) {
    List<Interval> changed = new ArrayList<>(sides);
    changed.set(field.ordinal(), values);
    return new Cell(treatment, named, changed);
  }

  /** The two parts that a rule tells apart. */
  List<Cell> cut(Answer.Cut cut) {
    Interval side = get(cut.field());
    return List.of(
        with(cut.field(), new Interval(side.first(), cut.at().subtract(BigInteger.ONE))),
        with(cut.field(), new Interval(cut.at(), side.last())));
  }
}
