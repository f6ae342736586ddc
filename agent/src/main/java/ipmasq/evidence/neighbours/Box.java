package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Answer.Cut;
import ipmasq.evidence.neighbours.Answer.Known;
import ipmasq.evidence.neighbours.Cell.Field;
import java.math.BigInteger;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** An interval for each field that is tested: a packet is in it if all its fields are. */
record Box(Map<Field, Interval> sides) {
  static final Box ALL = new Box(Map.of());

  /** Protocols whose header begins with two ports: tcp, udp, dccp, sctp, udplite. */
  private static final List<Interval> WITH_PORTS =
      List.of(6, 17, 33, 132, 136).stream().map(it -> Interval.of(it, it)).toList();

  Box {
    Map<Field, Interval> sorted = new EnumMap<>(Field.class);
    sorted.putAll(sides);
    sides = Collections.unmodifiableMap(sorted);
  }

  static Box of(Field field, Interval values) {
    return new Box(Map.of(field, values));
  }

  /** What is in both; empty if that is nothing. */
  Optional<Box> and(Box other) {
    Map<Field, Interval> both = new EnumMap<>(Field.class);
    both.putAll(sides);
    for (Map.Entry<Field, Interval> side : other.sides.entrySet()) {
      Interval mine = both.getOrDefault(side.getKey(), side.getValue());
      if (!mine.meets(side.getValue())) {
        return Optional.empty();
      }
      both.put(
          side.getKey(),
          new Interval(
              mine.first().max(side.getValue().first()), mine.last().min(side.getValue().last())));
    }
    return Optional.of(new Box(both));
  }

  /**
   * Whether it is about packets that a host sends to itself: they come back to it from a service
   * that it is part of.
   */
  boolean isHairpin() {
    Interval from = sides.get(Field.SOURCE);
    return from != null && from.isSingle() && from.equals(sides.get(Field.DESTINATION));
  }

  Answer ask(Cell cell) {
    Answer answer = Known.YES;
    for (Map.Entry<Field, Interval> side : sides.entrySet()) {
      boolean ofPort = side.getKey() == Field.SOURCE_PORT || side.getKey() == Field.PORT;
      Answer hasIt = ofPort ? hasPorts(cell) : Known.YES;
      answer = answer.and(hasIt == Known.YES ? ask(cell, side.getKey(), side.getValue()) : hasIt);
      if (answer == Known.NO) {
        return answer;
      }
    }
    return answer;
  }

  private static Answer ask(Cell cell, Field field, Interval values) {
    Interval has = cell.get(field);
    if (!values.meets(has) || values.contains(has)) {
      return Answer.of(values.meets(has));
    }
    return new Cut(
        field,
        values.first().compareTo(has.first()) > 0
            ? values.first()
            : values.last().add(BigInteger.ONE));
  }

  /** Of other protocols, the test looks at other bytes of their headers. */
  private Answer hasPorts(Cell cell) {
    Interval protocols = cell.get(Field.PROTOCOL);
    Interval mine = sides.getOrDefault(Field.PROTOCOL, protocols);
    boolean judged = mine.contains(protocols); // else it has been cut by protocol
    if ((judged ? protocols : mine).isWithin(WITH_PORTS)) {
      return Known.YES;
    }
    return !judged || !protocols.meetsAny(WITH_PORTS)
        ? Known.MAY
        : ask(cell, Field.PROTOCOL, WITH_PORTS.get(protocols.firstIn(WITH_PORTS)));
  }
}
