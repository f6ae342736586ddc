package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Answer.Cut;
import ipmasq.evidence.neighbours.Answer.Known;
import ipmasq.evidence.neighbours.Cell.Field;
import ipmasq.evidence.neighbours.Rule.Base;
import ipmasq.evidence.neighbours.Rule.Hooks;
import ipmasq.evidence.neighbours.Rule.Placed;
import ipmasq.evidence.neighbours.Rule.Stage;
import ipmasq.evidence.neighbours.Step.Mark;
import ipmasq.evidence.neighbours.Step.Test;
import ipmasq.evidence.neighbours.Step.Translate;
import ipmasq.net.ForeignText;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Treatment;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Follows the packets of one cell through the chains as if they were one packet. Where a rule tells
 * them apart, the walk stops, and each part of the cell is walked anew. Used once.
 *
 * <p>A test that is not judged may hold. Then what the rule does is one thing that may happen, and
 * the walk goes on as if it did not match:
 *
 * <pre>
 *   -A POSTROUTING -m u32 … -j MASQUERADE      may be translated; go on
 *   -A POSTROUTING -m u32 … -j CHAIN           all that CHAIN does may happen; go on
 *   -A CHAIN -m u32 … -j RETURN                the rest of CHAIN may happen; go on after it
 * </pre>
 */
final class Walk {
  /** Of one question. Each visit of a rule counts, wherever it was jumped to from. */
  static final int MOST_VISITS = 80_000;

  /** When all packets are judged, which happens only after a change. */
  static final int MOST_VISITS_OF_ALL = 1_000_000;

  private static final int DEEPEST = 64; // the kernel allows 16 jumps

  /** An unknown source is hardly one of so few addresses that a rule translates to. */
  private static final BigInteger SMALL_POOL = BigInteger.valueOf(256);

  /** What becomes of packets. */
  enum Kind {
    /** Another program's rule translates them. */
    TRANSLATED,
    /** Our rules translate them. */
    OURS,
    /** Our rules bind them to their own source. */
    PINNED,
    /** Another program's rule does, or keeps them from being tracked. */
    KEPT,
    /** No rule decides, so they keep their source. */
    PASSED,
    DROPPED,
    /** They get another destination before. */
    REDIRECTED,
    /** Something happens that is not judged. */
    UNCLEAR
  }

  /**
   * What becomes of the packets of a cell, or may.
   *
   * @param by the rule that decides; if none does, the one that ended our chain before our rules
   * @param how if a foreign rule translates them
   * @param assumed rules that may make it otherwise; none: this happens
   */
  record Leaf(
      Cell cell, Kind kind, Optional<Placed> by, Optional<Translate> how, Set<Placed> assumed) {
    boolean certain() {
      return assumed.isEmpty() && kind != Kind.UNCLEAR;
    }
  }

  /** How a packet leaves a rule. */
  private enum Flow {
    /** To the next one. */
    ON,
    /** To the end of its chain. */
    RETURNED,
    /** To the next one, or to the end of its chain. */
    MAY_RETURN,
    /** To the end of its base chain. */
    ACCEPTED,
    /** It is decided on; or, if it was not certain to come here, may be. */
    DECIDED,
    /** The walk is over. */
    STOPPED
  }

  /**
   * A visit of a rule.
   *
   * @param depth how many jumps led to its chain
   * @param may whether the rule may match, instead of does
   * @param perhaps whether it is not certain that the packet comes here, or that the rule matches
   */
  private record Visit(Rule rule, int depth, boolean may, boolean perhaps) {}

  private final Hooks hooks;
  private final Cell cell;
  private final boolean inScope;
  private final int mostVisits;
  private final List<Leaf> leaves = new ArrayList<>(); // what may happen
  private final Set<Placed> assumed = new LinkedHashSet<>(); // rules that may match
  private Mark mark = new Mark(0, 0);
  private @Nullable Cut cut;
  private Optional<Leaf> decided = Optional.empty();
  private Optional<Placed> shield = Optional.empty();
  private int visits;

  // Of the base chain that it is in.
  private Base base = Base.NONE;
  private boolean askedOurs;
  private boolean mayBeOver; // whether the packet may have left it before

  private Walk(Hooks hooks, Cell cell, boolean inScope, int mostVisits) {
    this.hooks = hooks;
    this.cell = cell;
    this.inScope = inScope;
    this.mostVisits = mostVisits;
  }

  /**
   * What becomes of these packets: for each cell that the rules tell apart one answer, or several
   * if it is not known.
   *
   * @param inScope whether all have a source that our policy is about
   * @param matters which cells are meant
   */
  static List<Leaf> of(
      Hooks hooks, List<Cell> cells, boolean inScope, Predicate<Cell> matters, int mostVisits) {
    Deque<Cell> todo = new ArrayDeque<>(cells);
    List<Leaf> leaves = new ArrayList<>();
    int left = mostVisits;
    while (!todo.isEmpty()) {
      Cell cell = todo.pop();
      if (!matters.test(cell)) {
        continue;
      }
      Walk walk = new Walk(hooks, cell, inScope, left);
      walk.run();
      left -= walk.visits + 1;
      if (left <= 0) {
        String text = "too many rules: more than " + mostVisits + " had to be checked";
        Placed all = new Placed(new ForeignText("all chains"), true, new Rule(List.of(), text));
        leaves.add(leaf(cell, Kind.UNCLEAR, Optional.of(all)));
        return leaves;
      }
      if (walk.cut == null) {
        leaves.addAll(walk.leaves);
      } else {
        cell.cut(walk.cut).reversed().forEach(todo::push);
      }
    }
    return leaves;
  }

  private static Leaf leaf(Cell cell, Kind kind, Optional<Placed> by) {
    return new Leaf(cell, kind, by, Optional.empty(), Set.of());
  }

  private void run() {
    hooks.rewriters().forEach(it -> leaves.add(leaf(cell, Kind.UNCLEAR, Optional.of(it))));
    boolean leaving = false;
    for (List<Base> beside : hooks.chains()) {
      Stage stage = beside.getFirst().place().stage();
      if (isPassed(stage) && decided.isEmpty() && cut == null) {
        if (stage == Stage.POSTROUTING && !leaving) {
          mark = mark.or(hooks.unknownMarks()); // what is set on the way is not followed
          leaving = true;
        }
        together(beside);
      }
    }
    leaves.add(decided.orElse(leaf(cell, Kind.PASSED, shield)));
    if (leaves.size() > 1) {
      leaves.forEach(it -> it.by().ifPresent(assumed::add));
      leaves.replaceAll(it -> new Leaf(cell, it.kind, it.by, it.how, assumed));
    }
  }

  private boolean isPassed(Stage stage) {
    return switch (stage) {
      case PREROUTING -> !cell.get(Field.FROM_NODE).equals(Cell.YES);
      case OUTPUT -> cell.get(Field.FROM_NODE).equals(Cell.YES);
      case POSTROUTING -> !cell.get(Field.TO_NODE).equals(Cell.YES);
    };
  }

  /**
   * Through chains of one priority. Each is walked as if it were the first, with whatever marks the
   * others may set; if two decide, either may.
   */
  private void together(List<Base> beside) {
    Mark before = mark;
    Mark after = mark;
    Optional<Leaf> first = Optional.empty();
    for (int i = 0; i < beside.size(); i++) {
      base = beside.get(i);
      askedOurs = false;
      mayBeOver = false;
      decided = Optional.empty();
      long others = 0;
      for (int j = 0; j < beside.size(); j++) {
        others |= i == j ? 0 : beside.get(j).changedMarks();
      }
      mark = before.or(others);
      Flow flow = chain(base.entry(), 0, false);
      if (flow == Flow.STOPPED) {
        return;
      }
      if (flow == Flow.ON && base.drops()) {
        Rule policy = new Rule(List.of(), "policy drop");
        decide(Kind.DROPPED, Optional.empty(), new Visit(policy, 0, false, mayBeOver));
      }
      if (base.changedMarks() != 0) {
        after = others == 0 ? mark : after.or(others | base.changedMarks());
      }
      if (first.isPresent()) {
        decided.ifPresent(leaves::add);
      } else {
        first = decided;
      }
    }
    decided = first;
    mark = after;
  }

  /**
   * @param perhaps whether the packet may not come here
   */
  private Flow chain(String name, int depth, boolean perhaps) {
    List<Rule> rules = base.chains().get(name);
    if (rules == null || depth > DEEPEST) {
      Rule all = new Rule(List.of(), "chain " + name + ", which could not be read");
      return decide(
          Kind.UNCLEAR, Optional.empty(), new Visit(all, depth, false, perhaps || mayBeOver));
    }
    boolean mayHaveReturned = false;
    for (Rule rule : rules) {
      Flow flow = visit(rule, depth, perhaps || mayHaveReturned);
      switch (flow) {
        case ON -> {}
        case MAY_RETURN -> mayHaveReturned = true;
        case RETURNED -> {
          return Flow.ON;
        }
        case DECIDED -> {
          return mayHaveReturned ? Flow.ON : flow;
        }
        case ACCEPTED, STOPPED -> {
          return flow;
        }
      }
    }
    return Flow.ON;
  }

  private Flow visit(Rule rule, int depth, boolean perhaps) {
    if (++visits > mostVisits) {
      return Flow.STOPPED;
    }
    Answer answer = Known.YES;
    for (Step step : rule.steps()) {
      if (step instanceof Test test) {
        visits += test.cost();
        answer = answer.and(test.ask(cell, mark));
        if (answer == Known.NO) {
          return Flow.ON;
        }
      } else if (!cell.named() && rule.isHairpin()) {
        return Flow.ON;
      } else {
        Flow flow = act(step, answer, new Visit(rule, depth, false, perhaps));
        if (flow != Flow.ON || step instanceof Step.Jump) {
          return flow;
        }
      }
    }
    return Flow.ON;
  }

  /** What a rule does to packets that match it to this extent. */
  private Flow act(Step step, Answer answer, Visit of) {
    if (answer instanceof Cut where) {
      cut = where;
      return Flow.STOPPED;
    }
    if (answer == Known.NO) {
      return Flow.ON;
    }
    boolean may = of.may || answer == Known.MAY;
    Visit it = new Visit(of.rule, of.depth, may, may || of.perhaps || mayBeOver);
    if (may) {
      assumed.add(new Placed(base.place(), of.rule));
    }
    return switch (step) {
      case Test _ -> throw new IllegalStateException("a test");
      case Step.SetMark set -> {
        mark = it.perhaps ? mark.or(set.changes()) : mark.after(set);
        yield Flow.ON;
      }
      case Step.Verdict verdict -> act(verdict, it);
      case Translate how -> translate(how, it);
      case Step.Jump(var to, var noReturn) -> jump(to, noReturn, it);
      case Step.Choose(var choices) -> {
        for (Step.Choice choice : choices) {
          Answer chosen = choice.box().ask(cell);
          Flow flow = act(choice.step(), chosen, it);
          if (chosen == Known.YES || flow != Flow.ON) {
            yield flow;
          }
        }
        yield Flow.ON;
      }
      case Step.Ask(var lookup) -> {
        Optional<Boolean> has = lookup.has(cell);
        Optional<Step> verdict = has.isPresent() ? lookup.verdict(cell) : Optional.empty();
        yield act(verdict.orElse(Step.Unknown.PATH), Answer.of(has.orElse(true)), it);
      }
      case Step.Unknown effect -> {
        if (base.place().nat() || effect != Step.Unknown.VERDICT) {
          decide(Kind.UNCLEAR, Optional.empty(), new Visit(it.rule, it.depth, true, true));
          mark = effect == Step.Unknown.PATH ? mark.or(Mark.ALL) : mark;
        }
        yield Flow.ON;
      }
    };
  }

  private Flow act(Step.Verdict verdict, Visit it) {
    return switch (verdict) {
      case RETURN -> {
        if (it.depth == 0) {
          shields(it);
        }
        yield it.may ? Flow.MAY_RETURN : Flow.RETURNED;
      }
      case ACCEPT -> {
        shields(it);
        mayBeOver |= it.perhaps;
        yield it.may ? Flow.ON : it.perhaps ? Flow.DECIDED : Flow.ACCEPTED;
      }
      case DROP -> decide(Kind.DROPPED, Optional.empty(), it);
      case KEEP -> decide(Kind.KEPT, Optional.empty(), it);
      case REDIRECT -> decide(Kind.REDIRECTED, Optional.empty(), it);
      case OURS -> {
        askedOurs = true;
        yield ours(Treatment.TRANSLATE, Kind.OURS, it);
      }
      case PIN -> ours(Treatment.EXEMPT, Kind.PINNED, it);
    };
  }

  /** If it ends the base chain before our rules, it keeps packets from them. */
  private void shields(Visit it) {
    if (base.holdsOurs() && !askedOurs && shield.isEmpty()) {
      shield = Optional.of(new Placed(base.place(), it.rule));
    }
  }

  private Flow decide(Kind kind, Optional<Translate> how, Visit it) {
    Placed by = new Placed(base.place(), it.rule);
    Leaf leaf = new Leaf(cell, kind, Optional.of(by), how, Set.of());
    if (it.perhaps) {
      leaves.add(leaf);
    } else {
      decided = Optional.of(leaf);
    }
    return it.may ? Flow.ON : Flow.DECIDED;
  }

  private Flow jump(String to, boolean noReturn, Visit it) {
    Flow flow = chain(to, it.depth + 1, it.perhaps);
    if (noReturn && it.depth == 0 && flow == Flow.ON) {
      shields(it);
    }
    if (flow == Flow.STOPPED || flow != Flow.ON && !it.may) {
      return flow;
    }
    return !noReturn ? Flow.ON : it.may ? Flow.MAY_RETURN : Flow.RETURNED;
  }

  /** A translation to the packet's own source keeps it. */
  private Flow translate(Translate how, Visit it) {
    if (how.to().isPresent()) {
      Interval to = Interval.of(how.to().get());
      Answer own = Box.of(Field.SOURCE, to).ask(cell);
      boolean small = to.last().subtract(to.first()).compareTo(SMALL_POOL) < 0;
      if (own == Known.YES) {
        return decide(to.isSingle() ? Kind.KEPT : Kind.UNCLEAR, Optional.empty(), it);
      }
      if (own instanceof Cut && !small) {
        return act(how, own, it);
      }
    }
    return decide(Kind.TRANSLATED, Optional.of(how), it);
  }

  /** Packets in the policy's scope, to destinations of this treatment, are decided on. */
  private Flow ours(Treatment treatment, Kind kind, Visit it) {
    Policy policy = hooks.ours().orElseThrow();
    Answer answer = Answer.of(cell.treatment() == treatment);
    if (!inScope && !policy.sources().isEmpty()) {
      List<Interval> sources = policy.sources().stream().map(Interval::of).toList();
      answer = answer.and(Test.of(Field.SOURCE, sources).ask(cell, mark));
    }
    if (!policy.interfaces().isEmpty()) {
      answer =
          answer.and(Test.of(Field.OUT, hooks.links().named(policy.interfaces())).ask(cell, mark));
    }
    if (answer instanceof Cut where) {
      cut = where;
      return Flow.STOPPED;
    }
    return answer == Known.NO ? Flow.ON : decide(kind, Optional.empty(), it);
  }
}
