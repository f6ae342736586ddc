package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Packets.Field;
import ipmasq.evidence.neighbours.Rule.Base;
import ipmasq.evidence.neighbours.Rule.Hooks;
import ipmasq.evidence.neighbours.Rule.Place;
import ipmasq.evidence.neighbours.Rule.Placed;
import ipmasq.evidence.neighbours.Rule.Stage;
import ipmasq.net.ForeignText;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Treatment;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Follows packets through the chains. Used once. */
final class Walk {
  /**
   * Of one question: each visit of a rule by packets of one kind counts, wherever the rule was
   * jumped to from.
   */
  static final int MOST_VISITS = 80_000;

  /** When all packets are judged, which happens only after a change. */
  static final int MOST_VISITS_OF_ALL = 400_000;

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
   * What becomes of some packets.
   *
   * @param by the rule that decides; if none does, the one that ended our chain before our rules
   * @param how if a foreign rule translates them
   * @param assumed rules that were assumed to match, or not to: with any, this only may happen
   */
  record Leaf(
      Packets packets,
      Kind kind,
      Optional<Placed> by,
      Optional<Step.Translate> how,
      List<Placed> assumed) {
    Leaf {
      assumed = List.copyOf(assumed);
    }

    boolean certain() {
      return assumed.isEmpty() && kind != Kind.UNCLEAR;
    }

    private Leaf assuming(Placed more) {
      return new Leaf(packets, kind, by, how, and(assumed, more));
    }
  }

  private final Hooks hooks;
  private final Exists exists;
  private final int mostVisits;
  private List<Leaf> leaves = new ArrayList<>();
  private int visits;

  /** Whether there are any packets like these, judged by destination and treatment. */
  @FunctionalInterface
  interface Exists {
    boolean test(Packets packets);
  }

  /** Packets on their way between chains. */
  private record Traveller(Packets packets, List<Placed> assumed, Optional<Placed> shield) {}

  /**
   * Packets at a rule.
   *
   * @param asked whether our rules were asked in this base chain
   */
  private record Cursor(Frame frame, Traveller traveller, boolean asked) {}

  /**
   * A position in a chain.
   *
   * @param caller where to go on after it; null: the base chain ends
   * @param byGoto the rule that led here without return, directly or not
   */
  private record Frame(
      String chain, int index, @Nullable Frame caller, Optional<Placed> byGoto, int depth) {
    Frame next() {
      return new Frame(chain, index + 1, caller, byGoto, depth);
    }
  }

  private Walk(Hooks hooks, Exists exists, int mostVisits) {
    this.hooks = hooks;
    this.exists = exists;
    this.mostVisits = mostVisits;
  }

  /** What becomes of these packets: one answer, or several if they differ or it is not known. */
  static List<Leaf> of(Hooks hooks, Packets packets, Exists exists, int mostVisits) {
    Walk walk = new Walk(hooks, exists, mostVisits);
    walk.run(packets);
    return walk.leaves;
  }

  private void run(Packets packets) {
    List<Traveller> now =
        List.of(new Traveller(packets.with(packets.mark()), List.of(), Optional.empty()));
    List<Base> chains =
        hooks.chains().stream().filter(base -> passes(base.place().stage(), packets)).toList();
    Stage stage = Stage.PREROUTING;
    for (int from = 0; from < chains.size(); ) {
      int to = from + 1;
      while (to < chains.size() && isBeside(chains.get(from).place(), chains.get(to).place())) {
        to++;
      }
      if (stage != Stage.POSTROUTING && chains.get(from).place().stage() == Stage.POSTROUTING) {
        stage = Stage.POSTROUTING;
        now = now.stream().map(this::forwarded).toList();
      }
      now =
          to - from == 1 ? through(chains.get(from), now) : together(chains.subList(from, to), now);
      from = to;
    }
    for (Traveller it : now) {
      add(it.packets, Kind.PASSED, it.shield, Optional.empty(), it.assumed);
    }
    if (visits > mostVisits) {
      String text = "too many rules: more than " + mostVisits + " were met on the ways there are";
      Placed all = new Placed(new ForeignText("all chains"), true, new Rule(List.of(), text));
      add(packets, Kind.UNCLEAR, Optional.of(all), Optional.empty(), List.of());
    }
    leaves = rewritten(leaves);
  }

  private static boolean passes(Stage stage, Packets packets) {
    return switch (stage) {
      case PREROUTING -> !packets.ofNode();
      case OUTPUT -> packets.ofNode();
      case POSTROUTING -> !packets.local();
    };
  }

  /** Chains of one priority run in the order of their registration, which is not visible. */
  private static boolean isBeside(Place one, Place other) {
    return one.stage() == other.stage()
        && one.nat() == other.nat()
        && one.priority() == other.priority();
  }

  /** What is set on the way is not followed. */
  private Traveller forwarded(Traveller it) {
    return new Traveller(
        it.packets.with(it.packets.mark().or(hooks.unknownMarks())), it.assumed, it.shield);
  }

  /** Where a rule elsewhere may change addresses, nothing is certain. */
  private List<Leaf> rewritten(List<Leaf> all) {
    List<Leaf> changed = new ArrayList<>(all);
    for (Placed rule : hooks.rewriters()) {
      changed.replaceAll(leaf -> leaf.assuming(rule));
      changed.add(
          new Leaf(
              all.getFirst().packets(),
              Kind.UNCLEAR,
              Optional.of(rule),
              Optional.empty(),
              List.of()));
    }
    return changed;
  }

  private static <T> List<T> and(List<T> list, T more) {
    if (list.contains(more)) {
      return list;
    }
    List<T> both = new ArrayList<>(list);
    both.add(more);
    return both;
  }

  /**
   * Packets through chains of one priority: each chain alone decides, as if it were the first; if
   * two decide on the same packets, either may.
   */
  private List<Traveller> together(List<Base> chains, List<Traveller> all) {
    List<Traveller> passed = new ArrayList<>();
    List<Leaf> before = leaves;
    for (Traveller it : all) {
      List<List<Leaf>> each = new ArrayList<>();
      for (Base chain : chains) {
        leaves = new ArrayList<>();
        long others = 0;
        for (Base other : chains) {
          others |= other.equals(chain) ? 0 : changedMarks(other);
        }
        Packets seen = it.packets.with(it.packets.mark().or(others));
        through(chain, List.of(new Traveller(seen, it.assumed, it.shield)));
        each.add(leaves);
      }
      leaves = new ArrayList<>();
      List<Traveller> left = List.of(it);
      for (Base chain : chains) {
        left = through(chain, left);
      }
      passed.addAll(left);
      leaves = before;
      for (List<Leaf> ofChain : each) {
        for (Leaf leaf : ofChain) {
          leaves.add(disputed(leaf, ofChain, each));
        }
      }
    }
    return passed;
  }

  @SuppressWarnings("ReferenceEquality") // its own list, whatever is in the others
  private static Leaf disputed(Leaf leaf, List<Leaf> own, List<List<Leaf>> each) {
    for (List<Leaf> others : each) {
      for (Leaf other : others == own ? List.<Leaf>of() : others) {
        if (other.by.isPresent() && leaf.packets.meet(other.packets)) {
          return leaf.assuming(other.by.get());
        }
      }
    }
    return leaf;
  }

  private static long changedMarks(Base chain) {
    long bits = 0;
    for (Rule rule : chain.rules()) {
      for (Step step : rule.steps()) {
        bits |= step instanceof Step.SetMark set ? set.changes() : 0;
      }
    }
    return bits;
  }

  /** Packets through one base chain; returns those that it does not decide on. */
  private List<Traveller> through(Base base, List<Traveller> all) {
    List<Traveller> passed = new ArrayList<>();
    for (Traveller it : all) {
      new Passage(base, passed).run(it);
    }
    return passed;
  }

  private void add(
      Packets packets,
      Kind kind,
      Optional<Placed> by,
      Optional<Step.Translate> how,
      List<Placed> assumed) {
    leaves.add(new Leaf(packets, kind, by, how, assumed));
  }

  /** The way of packets through one base chain. */
  private final class Passage {
    private final Base base;
    private final Matching matching;
    private final boolean leadsToOurs;
    private final List<Traveller> passed;
    private final Deque<Cursor> todo = new ArrayDeque<>();
    private final Set<Cursor> assumedBefore = new HashSet<>();

    Passage(Base base, List<Traveller> passed) {
      this.base = base;
      this.passed = passed;
      this.leadsToOurs = base.holdsOurs();
      this.matching = new Matching(base.place(), exists);
    }

    void run(Traveller it) {
      Frame entry = new Frame(base.entry(), 0, null, Optional.empty(), 0);
      todo.push(new Cursor(entry, it, false));
      while (!todo.isEmpty() && visits <= mostVisits) {
        visit(todo.pop());
      }
    }

    private Placed placed(Rule rule) {
      return new Placed(base.place(), rule);
    }

    private void visit(Cursor at) {
      visits++;
      List<Rule> rules = base.chains().get(at.frame.chain);
      if (rules == null || at.frame.depth > DEEPEST) {
        String text = "chain " + at.frame.chain + ", which could not be read";
        Rule rule = new Rule(List.of(), text);
        end(at.traveller, Kind.UNCLEAR, rule, Optional.empty());
        return;
      }
      if (at.frame.index < rules.size()) {
        new Visit(at, rules.get(at.frame.index)).run();
      } else if (at.frame.caller != null) {
        push(new Cursor(at.frame.caller, at.traveller, at.asked));
      } else if (base.drops()) {
        end(at.traveller, Kind.DROPPED, new Rule(List.of(), "policy drop"), Optional.empty());
      } else {
        pass(at, at.traveller, at.frame.byGoto);
      }
    }

    /** Packets that came to the same place by another assumption need no second visit. */
    private void push(Cursor cursor) {
      Traveller it = cursor.traveller;
      Traveller like = new Traveller(it.packets, List.of(), Optional.empty());
      if (it.assumed.isEmpty() || assumedBefore.add(new Cursor(cursor.frame, like, cursor.asked))) {
        todo.push(cursor);
      }
    }

    private void end(Traveller it, Kind kind, Rule rule, Optional<Step.Translate> how) {
      add(it.packets, kind, Optional.of(placed(rule)), how, it.assumed);
    }

    /** The base chain ends; if a rule ended it before our rules, that one keeps packets from us. */
    private void pass(Cursor at, Traveller it, Optional<Placed> endedBy) {
      boolean shielded = leadsToOurs && !at.asked;
      passed.add(
          new Traveller(
              it.packets, it.assumed, it.shield.or(() -> shielded ? endedBy : Optional.empty())));
    }

    /** Packets at one rule. */
    private final class Visit {
      private final Cursor at;
      private final Rule rule;
      private boolean asked;

      Visit(Cursor at, Rule rule) {
        this.at = at;
        this.rule = rule;
        this.asked = at.asked;
      }

      void run() {
        boolean ofNobody =
            !at.traveller.packets.get(Field.SOURCE).isSingle() && Matching.isHairpin(rule.steps());
        if (ofNobody || rule.isInert(base.place().nat())) {
          goOn(at.traveller);
          return;
        }
        List<Traveller> here = List.of(at.traveller);
        for (Step step : rule.steps()) {
          List<Traveller> next = new ArrayList<>();
          for (Traveller it : here) {
            if (step instanceof Step.Test test) {
              test(test, it, next);
            } else {
              act(step, it).ifPresent(next::add);
            }
          }
          here = next;
        }
        here.forEach(this::goOn);
      }

      private void goOn(Traveller it) {
        push(new Cursor(at.frame.next(), it, asked));
      }

      private Traveller assuming(Traveller it) {
        return new Traveller(it.packets, and(it.assumed, placed(rule)), it.shield);
      }

      private void test(Step.Test test, Traveller it, List<Traveller> matched) {
        Matching.Parts parts = matching.split(test, it.packets);
        visits += parts.cost();
        parts.yes().forEach(packets -> matched.add(like(it, packets)));
        parts.no().forEach(packets -> goOn(like(it, packets)));
        for (Packets packets : parts.may()) {
          Traveller perhaps = assuming(like(it, packets));
          matched.add(perhaps);
          goOn(perhaps);
        }
      }

      private static Traveller like(Traveller it, Packets packets) {
        return new Traveller(packets, it.assumed, it.shield);
      }

      /** Returns the packets if they go on to the rule's next step. */
      private Optional<Traveller> act(Step step, Traveller it) {
        switch (step) {
          case Step.Test _ -> throw new IllegalStateException("a test");
          case Step.SetMark set -> {
            return Optional.of(like(it, it.packets.with(it.packets.mark().after(set))));
          }
          case Step.Untrack() -> {
            if (!base.place().isBeforeTracking()) {
              return Optional.of(it);
            }
            // At the very priority of tracking, either may run first.
            boolean surely = base.place().priority() < Place.NF_IP_PRI_CONNTRACK;
            end(it, surely ? Kind.KEPT : Kind.UNCLEAR, rule, Optional.empty());
          }
          case Step.Return() -> {
            if (at.frame.caller != null) {
              push(new Cursor(at.frame.caller, it, asked));
            } else {
              pass(at, it, at.frame.byGoto.or(() -> Optional.of(placed(rule))));
            }
          }
          case Step.Accept() -> pass(at, it, Optional.of(placed(rule)));
          case Step.Drop() -> end(it, Kind.DROPPED, rule, Optional.empty());
          case Step.Keep() -> end(it, Kind.KEPT, rule, Optional.empty());
          case Step.Redirect() -> end(it, Kind.REDIRECTED, rule, Optional.empty());
          case Step.Translate translate -> translate(translate, it);
          case Step.Jump(var chain) -> {
            Frame back = at.frame.next();
            push(new Cursor(new Frame(chain, 0, back, Optional.empty(), depth()), it, asked));
          }
          case Step.Goto(var chain) -> {
            Optional<Placed> by = Optional.of(placed(rule));
            push(new Cursor(new Frame(chain, 0, at.frame.caller, by, depth()), it, asked));
          }
          case Step.Ours() -> {
            asked = true;
            ours(Treatment.TRANSLATE, Kind.OURS, it);
          }
          case Step.Pin() -> ours(Treatment.EXEMPT, Kind.PINNED, it);
          case Step.Ask(var lookup) -> {
            Optional<Boolean> known = lookup.has(it.packets);
            if (known.equals(Optional.of(false))) {
              goOn(it);
            } else {
              Step action =
                  (known.isPresent() ? lookup.action(it.packets) : Optional.<Step>empty())
                      .orElse(new Step.Unknown("map " + lookup.described(), Step.Effect.PATH));
              return act(action, it);
            }
          }
          case Step.Continue() -> {
            return Optional.of(it);
          }
          case Step.Unknown(var _, var effect) -> {
            if (!base.place().nat() && effect == Step.Effect.VERDICT) {
              return Optional.of(it);
            }
            end(it, Kind.UNCLEAR, rule, Optional.empty());
            return Optional.of(assuming(it));
          }
        }
        return Optional.empty();
      }

      private int depth() {
        return at.frame.depth + 1;
      }

      /** A translation to the packet's own source keeps it. */
      private void translate(Step.Translate how, Traveller it) {
        Ranges sources = it.packets.get(Field.SOURCE);
        Ranges to = how.to().map(Ranges::of).orElse(Ranges.NONE);
        Ranges own = sources.and(to);
        if (!sources.minus(to).isEmpty()) {
          Packets others = it.packets.with(Field.SOURCE, sources.minus(to));
          end(like(it, others), Kind.TRANSLATED, rule, Optional.of(how));
        }
        if (!own.isEmpty() && (sources.within(to) || !isSmall(to))) {
          Kind kind = to.isSingle() ? Kind.KEPT : Kind.UNCLEAR;
          end(like(it, it.packets.with(Field.SOURCE, own)), kind, rule, Optional.empty());
        }
      }

      private static boolean isSmall(Ranges pool) {
        Ranges.Range range = pool.list().getFirst();
        return range.last().subtract(range.first()).compareTo(SMALL_POOL) < 0;
      }

      /** Packets in the policy's scope, to destinations of this treatment, are decided on. */
      private void ours(Treatment treatment, Kind kind, Traveller it) {
        Optional<Policy> policy = hooks.ours();
        if (policy.isEmpty()) {
          end(it, Kind.UNCLEAR, rule, Optional.empty());
          goOn(assuming(it));
          return;
        }
        List<Step.Test> scope = new ArrayList<>();
        if (!policy.get().sources().isEmpty()) {
          scope.add(new Step.Is(Field.SOURCE, Ranges.of(policy.get().sources()), false));
        }
        if (!policy.get().interfaces().isEmpty()) {
          scope.add(new Step.Link(true, policy.get().interfaces(), false));
        }
        if (it.packets.treatment() != treatment) {
          goOn(it);
          return;
        }
        List<Traveller> inScope = List.of(it);
        for (Step.Test test : scope) {
          List<Traveller> matched = new ArrayList<>();
          inScope.forEach(each -> test(test, each, matched));
          inScope = matched;
        }
        inScope.forEach(each -> end(each, kind, rule, Optional.empty()));
      }
    }
  }
}
