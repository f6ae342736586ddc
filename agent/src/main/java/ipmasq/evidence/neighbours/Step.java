package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Answer.Known;
import ipmasq.evidence.neighbours.Cell.Field;
import ipmasq.net.IpRange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** What a rule does, in order: tests, which end it for packets that fail them, and actions. */
sealed interface Step {
  Step NOTHING = new Choose(List.of());

  /** A test. */
  @FunctionalInterface
  non-sealed interface Test extends Step {
    Test UNJUDGED = (_, _) -> Known.MAY;

    Answer ask(Cell cell, Mark mark);

    /** How many visits of simple rules it takes, beyond one. */
    default int cost() {
      return 0;
    }

    static Test of(boolean holds) {
      return holds ? In.ALWAYS : In.NEVER;
    }

    /** That a field has one of these values. */
    static Test of(Field field, Collection<Interval> values) {
      return new In(Interval.merged(values).stream().map(it -> Box.of(field, it)).toList());
    }

    static Test of(Field field, Interval values) {
      return new In(List.of(Box.of(field, values)));
    }

    /** That it is in one of these boxes, which all have the same sides. */
    static Test of(List<Box> boxes) {
      if (boxes.contains(Box.ALL)) {
        return In.ALWAYS;
      }
      return boxes.size() > 1 && boxes.getFirst().sides().size() == 1
          ? of(
              boxes.getFirst().sides().keySet().iterator().next(),
              boxes.stream().flatMap(box -> box.sides().values().stream()).toList())
          : new In(boxes);
    }

    default Test not() {
      return equals(In.ALWAYS) ? In.NEVER : equals(In.NEVER) ? In.ALWAYS : new Not(this);
    }

    default Test negatedIf(boolean negated) {
      return negated ? not() : this;
    }
  }

  /** A packet is in one of these boxes, which all have the same sides. */
  record In(List<Box> boxes) implements Test {
    static final Test ALWAYS = new In(List.of(Box.ALL));
    static final Test NEVER = new In(List.of());

    public In {
      List<Box> sorted = new ArrayList<>(boxes);
      if (boxes.size() > 1) {
        sorted.sort(Comparator.comparing(box -> lead(box).first()));
      }
      boxes = List.copyOf(sorted);
    }

    private static Interval lead(Box box) {
      return box.sides().values().iterator().next();
    }

    @Override
    public Answer ask(Cell cell, Mark mark) {
      if (boxes.size() < 2) {
        return boxes.isEmpty() ? Known.NO : ask(boxes.getFirst(), cell);
      }
      Field lead = boxes.getFirst().sides().keySet().iterator().next();
      boolean skip = lead != Field.PORT && lead != Field.SOURCE_PORT;
      boolean disjoint = skip && boxes.getFirst().sides().size() == 1;
      Answer answer = Known.NO;
      for (int i = disjoint ? cell.get(lead).firstIn(Interval.view(boxes, In::lead)) : 0;
          i < boxes.size() && answer != Known.YES;
          i++) {
        Box box = boxes.get(i);
        if (skip && lead(box).first().compareTo(cell.get(lead).last()) > 0) {
          break;
        }
        answer = answer.or(ask(box, cell));
      }
      return answer;
    }

    @Override
    public int cost() {
      return boxes.size() < 2 || boxes.getFirst().sides().size() < 2 ? 0 : boxes.size() / 16;
    }

    private static Answer ask(Box box, Cell cell) {
      return cell.named() || !box.isHairpin() ? box.ask(cell) : Known.NO;
    }
  }

  /** The opposite. */
  record Not(Test test) implements Test {
    @Override
    public Answer ask(Cell cell, Mark mark) {
      return test.ask(cell, mark).not();
    }
  }

  /** These bits of its mark have this value. */
  record Marked(long value, long mask) implements Test {
    @Override
    public Answer ask(Cell cell, Mark mark) {
      boolean differs = (value & ~mask) != 0 || ((mark.value ^ value) & mask & ~mark.unknown) != 0;
      return differs ? Known.NO : (mark.unknown & mask) == 0 ? Known.YES : Known.MAY;
    }
  }

  /** A set too large to read, or that changes by itself, has it: the kernel is asked. */
  record Member(Lookup lookup) implements Test {
    @Override
    public Answer ask(Cell cell, Mark mark) {
      return lookup.has(cell).map(Answer::of).orElse(Known.MAY);
    }
  }

  /** Asks the kernel for one element. */
  interface Lookup {
    /** Whether it is there; empty: it may be. */
    Optional<Boolean> has(Cell cell);

    /** What a map of verdicts has for it; empty: that is not known. */
    default Optional<Step> verdict(Cell cell) {
      return Optional.empty();
    }
  }

  /** What needs no more words. */
  enum Verdict implements Step {
    /** The chain ends, and the one that jumped here goes on. */
    RETURN,
    /** The base chain ends; those of other priorities still run. */
    ACCEPT,
    DROP,
    /** It is bound to its own source, or not tracked: later rules do not apply. */
    KEEP,
    /** It gets another destination. */
    REDIRECT,
    /** Our policy decides: packets to exempt destinations go on, all others are translated. */
    OURS,
    /** The reverse: packets to exempt destinations are bound to their source, all others go on. */
    PIN
  }

  /**
   * @param noReturn whether the chain that it is in ends with the other
   */
  record Jump(String chain, boolean noReturn) implements Step {}

  /**
   * It gets another source, which binds the connection: later rules do not apply.
   *
   * @param to the addresses to choose from; empty: that of the interface, or unknown
   */
  record Translate(boolean masquerade, Optional<IpRange> to) implements Step {}

  /** What the first of these boxes that has the packet says; nothing, if none has. */
  record Choose(List<Choice> choices) implements Step {
    public Choose {
      choices = List.copyOf(choices);
    }
  }

  /** An element of a map. */
  record Choice(Box box, Step step) {}

  /** The verdict of a large map. */
  record Ask(Lookup lookup) implements Step {}

  /**
   * It gets a mark that later rules may test: {@code mark & and ^ xor}.
   *
   * @param unknown the bits that may be anything afterwards
   */
  record SetMark(long and, long xor, long unknown) implements Step {
    static final SetMark ANY = unknown(Mark.ALL);

    /** Any value for these bits; the others stay. */
    static SetMark unknown(long bits) {
      return new SetMark(~bits & Mark.ALL, 0, bits);
    }

    /** The bits that it may change. */
    long changes() {
      return (~and | xor | unknown) & Mark.ALL;
    }
  }

  /**
   * What is known of a packet's mark.
   *
   * @param unknown the bits that may be anything
   */
  record Mark(long value, long unknown) {
    static final long ALL = 0xffff_ffffL;

    Mark or(long bits) {
      return new Mark(value & ~bits, unknown | bits);
    }

    Mark after(SetMark set) {
      return new Mark(
          (value & set.and ^ set.xor) & ALL & ~set.unknown,
          (unknown & set.and | set.unknown) & ALL);
    }
  }

  /** What something that is not judged may do. */
  enum Unknown implements Step {
    /** Take the packet or let it go on: outside nat, that is a filter's business. */
    VERDICT,
    /** Lead to other chains, which may do anything. */
    PATH,
    /** Change the packet's addresses, wherever it stands. */
    ADDRESSES
  }
}
