package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Packets.Field;
import ipmasq.evidence.neighbours.Rule.Place;
import ipmasq.evidence.neighbours.Rule.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Which packets meet a test, at a place on their way. */
record Matching(Place place, Walk.Exists exists) {
  /** Protocols whose header begins with two ports. */
  private static final Ranges WITH_PORTS =
      Ranges.of(6, 6)
          .or(Ranges.of(17, 17))
          .or(Ranges.of(33, 33))
          .or(Ranges.of(132, 132))
          .or(Ranges.of(136, 136));

  /** A large set may cut packets into so many parts. */
  private static final int MOST_PARTS = 512;

  /**
   * Those that meet it, those that do not, and those of which it is not known.
   *
   * @param cost how many comparisons it took beyond the first
   */
  record Parts(List<Packets> yes, List<Packets> no, List<Packets> may, int cost) {
    private static Parts of(Packets packets, Optional<Boolean> holds) {
      List<Packets> all = List.of(packets);
      return holds.isEmpty()
          ? new Parts(List.of(), List.of(), all, 0)
          : holds.get()
              ? new Parts(all, List.of(), List.of(), 0)
              : new Parts(List.of(), all, List.of(), 0);
    }

    Parts negatedIf(boolean negated) {
      return negated ? new Parts(no, yes, may, cost) : this;
    }
  }

  Parts split(Step.Test test, Packets packets) {
    return switch (test) {
      case Step.Is(var field, var ranges, var negated) ->
          is(packets, field, ranges).negatedIf(negated);
      case Step.Link(var out, var names, var negated) -> {
        boolean none = out ? place.stage() == Stage.PREROUTING : place.stage() == Stage.OUTPUT;
        yield link(packets, out, none, names).negatedIf(negated);
      }
      case Step.Marked(var value, var mask, var negated) ->
          Parts.of(packets, isMarked(packets.mark(), value, mask)).negatedIf(negated);
      case Step.Local(var source, var negated) ->
          Parts.of(packets, Optional.of((source ? packets.ofNode() : packets.local()) != negated));
      case Step.Tracked(var holds, var _) ->
          Parts.of(packets, place.isBeforeTracking() ? Optional.empty() : Optional.of(holds));
      case Step.AnyOf(var alternatives, var negated, var _) ->
          anyOf(packets, alternatives).negatedIf(negated);
      case Step.Member(var lookup, var negated) ->
          Parts.of(packets, lookup.has(packets)).negatedIf(negated);
      case Step.Constant(var holds) -> Parts.of(packets, Optional.of(holds));
      case Step.Unjudged _ -> Parts.of(packets, Optional.empty());
    };
  }

  private Parts is(Packets packets, Field field, Ranges ranges) {
    List<Packets> may = new ArrayList<>();
    Packets judged = packets;
    if (field == Field.PORT || field == Field.SOURCE_PORT) {
      Ranges protocols = packets.get(Field.PROTOCOL);
      Ranges others = protocols.minus(WITH_PORTS);
      if (!others.isEmpty()) {
        may.add(packets.with(Field.PROTOCOL, others)); // other bytes of their headers are tested
        judged = packets.with(Field.PROTOCOL, protocols.and(WITH_PORTS));
      }
    }
    List<Packets> yes = new ArrayList<>();
    List<Packets> no = new ArrayList<>();
    if (!judged.get(Field.PROTOCOL).isEmpty()) {
      Ranges values = judged.get(field);
      add(yes, judged.with(field, values.and(ranges)), field);
      add(no, judged.with(field, values.minus(ranges)), field);
    }
    return new Parts(yes, no, may, 0);
  }

  private void add(List<Packets> list, Packets packets, Field field) {
    if (!packets.get(field).isEmpty() && (field != Field.DESTINATION || exists.test(packets))) {
      list.add(packets);
    }
  }

  private static Parts link(Packets packets, boolean out, boolean none, List<String> names) {
    List<String> links = out ? packets.out() : packets.in();
    if (none || links.isEmpty()) {
      return Parts.of(packets, Optional.of(!Packets.named(List.of(""), names, true).isEmpty()));
    }
    List<Packets> yes = with(packets, out, Packets.named(links, names, true));
    List<Packets> no = with(packets, out, Packets.named(links, names, false));
    return new Parts(yes, no, List.of(), 0);
  }

  private static List<Packets> with(Packets packets, boolean out, List<String> links) {
    return links.isEmpty()
        ? List.of()
        : List.of(
            out ? packets.through(packets.in(), links) : packets.through(links, packets.out()));
  }

  private static Optional<Boolean> isMarked(Packets.Mark mark, long value, long mask) {
    if ((value & ~mask) != 0 || ((mark.value() ^ value) & mask & ~mark.unknown()) != 0) {
      return Optional.of(false);
    }
    return (mark.unknown() & mask) == 0 ? Optional.of(true) : Optional.empty();
  }

  /** Those that meet all tests of one of the alternatives. */
  private Parts anyOf(Packets packets, List<List<Step.Test>> alternatives) {
    List<Packets> yes = new ArrayList<>();
    List<Packets> may = new ArrayList<>();
    List<Packets> left = List.of(packets);
    int cost = 0;
    for (List<Step.Test> all : alternatives) {
      if (isHairpin(all) && packets.source().isEmpty()) {
        continue;
      }
      List<Packets> remaining = new ArrayList<>();
      for (Packets each : left) {
        cost++;
        Parts parts = allOf(each, all);
        yes.addAll(parts.yes);
        may.addAll(parts.may);
        remaining.addAll(parts.no);
      }
      left = remaining;
      if (left.size() > MOST_PARTS) {
        may.addAll(left);
        return new Parts(yes, List.of(), may, cost);
      }
    }
    return new Parts(yes, left, may, cost);
  }

  private Parts allOf(Packets packets, List<Step.Test> tests) {
    List<Packets> yes = List.of(packets);
    List<Packets> no = new ArrayList<>();
    List<Packets> may = new ArrayList<>();
    for (Step.Test test : tests) {
      List<Packets> next = new ArrayList<>();
      for (Packets each : yes) {
        Parts parts = split(test, each);
        next.addAll(parts.yes);
        no.addAll(parts.no);
        may.addAll(parts.may);
      }
      yes = next;
    }
    return new Parts(yes, no, may, 0);
  }

  /**
   * Whether it is about packets that a host sends to itself: they come back to it from a service
   * that it is part of. They matter only to a question that names the source.
   */
  static boolean isHairpin(List<? extends Step> tests) {
    Optional<Ranges> from = Optional.empty();
    Optional<Ranges> to = Optional.empty();
    for (Step test : tests) {
      if (test instanceof Step.Is(var field, var ranges, var negated)
          && !negated
          && ranges.isSingle()) {
        from = field == Field.SOURCE ? Optional.of(ranges) : from;
        to = field == Field.DESTINATION ? Optional.of(ranges) : to;
      }
    }
    return from.isPresent() && from.equals(to);
  }
}
