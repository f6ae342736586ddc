package ipmasq.hook;

import ipmasq.hook.Decision.DecisionKind;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One walk of packets through the hook. If a condition cannot be evaluated, the walk takes both
 * branches. Packets that a rule may have decided on are out of the question for later rules: those
 * are asked about the packets that are left.
 */
final class Walk {
  private static final int SMALL_POOL = 256;
  private static final int DEEPEST = 32; // the kernel allows fewer jumps into jumps

  private final Hook hook;
  private final Flow flow;
  private List<Decision> decisions = new ArrayList<>();
  private Marks marks;
  private boolean oursAsked;
  private boolean oursAhead;
  private boolean over;
  private int endings; // rules that may have ended the base chain for undecided packets

  Walk(Hook hook, Flow flow) {
    this.hook = hook;
    this.flow = flow;
    this.marks = Marks.zero(hook.markedBits(flow));
  }

  List<Decision> decisions() {
    List<BaseChain> chains = hook.chainsFor(flow);
    int from = 0;
    while (from < chains.size() && !over) {
      int to = from + 1;
      while (to < chains.size() && chains.get(to).priority() == chains.get(from).priority()) {
        to++;
      }
      together(chains.subList(from, to));
      if (chains.get(from).isBeforeTracking()) {
        marks = Marks.zero(hook.markedBits(flow)); // chains between there and here may change it
      }
      from = to;
    }
    return decisions;
  }

  /**
   * Chains of one priority run in the order of their registration, which is not visible here. It
   * matters only if more than one of them decides.
   */
  private void together(List<BaseChain> chains) {
    if (chains.size() == 1) {
      chain(chains.getFirst());
      return;
    }
    List<Decision> before = decisions;
    List<List<Decision>> each = new ArrayList<>();
    Marks first = marks;
    for (BaseChain chain : chains) {
      decisions = new ArrayList<>();
      over = false;
      marks = first.unsure(changed(chains, chain)); // the others may have run before
      chain(chain);
      if (!decisions.isEmpty()) {
        each.add(decisions);
      }
    }
    decisions = before;
    marks = first.unsure(changed(chains, null));
    over = false;
    if (each.size() == 1) {
      decisions.addAll(each.getFirst());
      over = each.getFirst().stream().anyMatch(Walk::ends);
      return;
    }
    List<Decision> all = each.stream().flatMap(List::stream).toList();
    all.stream().map(Decision::perhaps).forEach(decisions::add);
    // Each packet meets one that certainly decides, in any order; do they all agree?
    Optional<Decision> certain = all.stream().filter(Walk::ends).findFirst();
    if (certain.isPresent()) {
      decisions.add(certain.get());
      over = true;
    }
  }

  /** The bits of the mark that rules in these chains may change, except one of them. */
  private static long changed(List<BaseChain> chains, @Nullable BaseChain except) {
    long bits = 0;
    for (BaseChain chain : chains) {
      for (Rule rule : chain.equals(except) ? List.<Rule>of() : chain.rules()) {
        bits |= rule.mark().map(Action.SetMark::changes).orElse(0L);
      }
    }
    return bits;
  }

  private static boolean ends(Decision decision) {
    return decision.certain()
        && decision.kind() != DecisionKind.SHIELDED
        && decision.kind() != DecisionKind.UNCLEAR;
  }

  private void chain(BaseChain chain) {
    oursAhead = leadsToOurs(chain);
    oursAsked = false;
    new Base(chain).run();
  }

  /** Whether the base chain itself has our jump. */
  static boolean leadsToOurs(BaseChain base) {
    for (Rule rule : base.chains().rules(base.entry()).orElse(List.of())) {
      if (rule.action() instanceof Action.Ours) {
        return true;
      }
    }
    return false;
  }

  /** The walk through one base chain. */
  private final class Base {
    private final BaseChain base;
    private final Flow flow;

    /** What is known of packets that are still in the base chain, wherever in it. */
    private final PacketsLeft left = new PacketsLeft();

    Base(BaseChain base) {
      this.base = base;
      this.flow = base.point().seen(Walk.this.flow);
    }

    void run() {
      Truth out = run(base.entry(), Truth.YES, List.of(), left, 0);
      if (base.drops() && out != Truth.NO && !over) {
        Rule policy = new Rule(List.of(), new Action.Drop(), "policy drop");
        decide(policy, DecisionKind.DROPPED, out, left.conditions());
      }
    }

    /**
     * Walks a chain; returns whether packets reach its end or return from it.
     *
     * @param path the conditions on the way here that could not be evaluated
     * @param before what is known of the packets that come here
     */
    private Truth run(
        String name, Truth reached, List<Condition> path, PacketsLeft before, int depth) {
      Optional<List<Rule>> rules = depth > DEEPEST ? Optional.empty() : base.chains().rules(name);
      if (rules.isEmpty()) {
        String text = "chain " + name + ", which cannot be read";
        decide(
            new Rule(List.of(), new Action.UnknownAction(text), text),
            DecisionKind.UNCLEAR,
            Truth.MAYBE,
            path);
        endings++;
        return Truth.MAYBE;
      }
      Truth here = reached;
      Truth out = Truth.NO;
      int ended = endings;
      PacketsLeft inChain = new PacketsLeft(before);
      for (Rule rule : rules.get()) {
        if (here == Truth.NO || over) {
          break;
        }
        List<Condition> unsure = new ArrayList<>(path);
        Truth match = match(rule, unsure, inChain);
        if (match == Truth.NO) {
          continue;
        }
        List<Condition> open = List.copyOf(unsure);
        unsure.addAll(inChain.conditions());
        left.conditions().stream().filter(c -> !unsure.contains(c)).forEach(unsure::add);
        Truth acts = here.and(match);
        Action action = rule.action();
        if (action instanceof Action.Ask(var keys, var map)) {
          action = ask(keys, map);
        }
        if (action instanceof Action.MarkAnd(var set, var then)) {
          marks = marks.after(set, acts == Truth.YES);
          action = then;
        }
        switch (action) {
          case Action.MarkAnd _ -> throw new IllegalStateException("marked twice");
          case Action.NoAction() -> {}
          case Action.SetMark set -> marks = marks.after(set, acts == Truth.YES);
          case Action.Return() -> {
            out = out.or(acts);
            shield(rule, acts, unsure, depth == 0);
            here = after(here, match);
            inChain.took(open);
          }
          case Action.Accept() -> {
            endings++;
            shield(rule, acts, unsure, true);
            took(open, inChain, depth == 0 ? Truth.YES : here);
            here = after(here, match);
          }
          case Action.Drop() -> here = end(rule, DecisionKind.DROPPED, here, match, acts, unsure);
          case Action.Keep() -> here = end(rule, DecisionKind.KEPT, here, match, acts, unsure);
          case Action.Untrack() -> {
            if (base.isBeforeTracking()) {
              // At the very priority of tracking, the later registered runs first.
              boolean surely = base.priority() < BaseChain.NF_IP_PRI_CONNTRACK;
              DecisionKind kind = surely ? DecisionKind.KEPT : DecisionKind.UNCLEAR;
              here = end(rule, kind, here, match, acts, unsure);
            }
          }
          case Action.ChangeDestination _ ->
              here = end(rule, DecisionKind.REDIRECTED, here, match, acts, unsure);
          case Action.Translate(var _, var to) ->
              here = end(rule, translation(rule, to), here, match, acts, unsure);
          case Action.UnknownAction _, Action.Ask _ -> {
            decide(rule, DecisionKind.UNCLEAR, Truth.MAYBE, unsure);
            endings++;
            here = Truth.MAYBE;
          }
          case Action.Jump(var chain) -> {
            int endedBefore = endings;
            Truth back = run(chain, acts, open, inChain, depth + 1);
            // Packets that did not jump go on here; all do if the chain took none.
            here =
                match == Truth.YES ? back : endings == endedBefore ? here : here.and(Truth.MAYBE);
          }
          case Action.Goto(var chain) -> {
            endings++;
            Truth back = run(chain, acts, open, inChain, depth + 1);
            out = out.or(back);
            shield(rule, back, unsure, depth == 0); // it comes back to the caller: here, to none
            took(open, inChain, depth == 0 ? Truth.YES : here);
            here = after(here, match);
          }
          case Action.Ours() -> here = ours(rule, here, match, acts, unsure);
          case Action.Pin() -> pin(rule, acts, unsure);
        }
      }
      Truth back = over ? Truth.NO : out.or(here);
      // Undecided packets returned or came to the end, unless a rule may have ended the base chain.
      return back != Truth.NO && endings == ended ? reached : back;
    }

    /** A verdict map's action for these packets. */
    private Action ask(List<SetKey> keys, ElementSet map) {
      Optional<byte[]> key = SetKey.of(keys, flow);
      if (key.isEmpty()) {
        return new Action.UnknownAction(map.name());
      }
      return switch (map.ask(key.get())) {
        case ElementSet.ElementAnswer.Present(var verdict) ->
            verdict.orElse(new Action.UnknownAction(map.name()));
        case ElementSet.ElementAnswer.Absent() -> new Action.NoAction();
        case ElementSet.ElementAnswer.NoAnswer() -> new Action.UnknownAction(map.name());
      };
    }

    /** A translation to the packet's own source keeps it. */
    private DecisionKind translation(Rule rule, Optional<IpRange> to) {
      if (to.isEmpty()) {
        return DecisionKind.TRANSLATED;
      }
      boolean one = to.get().first().equals(to.get().last());
      Optional<AddressRanges> sources =
          rule.sources()
              .filter(r -> flow.sources().map(all -> all.hold(r) == Truth.YES).orElse(true))
              .or(flow::sources);
      Truth same = sources.map(AddressRanges.of(to.get())::hold).orElse(Truth.MAYBE);
      return switch (same) {
        case NO -> DecisionKind.TRANSLATED;
        case YES -> one ? DecisionKind.KEPT : DecisionKind.UNCLEAR;
        // An unknown source is hardly one of a few addresses.
        case MAYBE ->
            flow.sources().isEmpty() && isSmall(to.get())
                ? DecisionKind.TRANSLATED
                : DecisionKind.UNCLEAR;
      };
    }

    private static boolean isSmall(IpRange pool) {
      return pool.first().high() == pool.last().high()
          && Long.compareUnsigned(pool.last().low() - pool.first().low(), SMALL_POOL) < 0;
    }

    /**
     * Packets that meet these conditions have left the base chain, if they came here. Below the
     * base chain itself, some may have returned to the caller before.
     */
    private void took(List<Condition> open, PacketsLeft inChain, Truth here) {
      inChain.took(open);
      if (here == Truth.YES || !open.stream().allMatch(Condition::understood)) {
        left.took(open);
      }
    }

    private Truth match(Rule rule, List<Condition> unsure, PacketsLeft inChain) {
      if (isHairpin(rule)) {
        return Truth.NO;
      }
      Truth all = Truth.YES;
      for (Condition condition : rule.conditions()) {
        Truth holds = condition.holds(flow, marks);
        boolean contradicts =
            holds == Truth.MAYBE
                && unsure.stream().anyMatch(known -> Implication.excludes(known, condition));
        if (holds == Truth.NO || contradicts) {
          return Truth.NO;
        }
        if (holds == Truth.MAYBE && !inChain.implies(condition) && !left.implies(condition)) {
          unsure.add(condition);
          all = Truth.MAYBE;
        }
      }
      return inChain.excludes(unsure) || left.excludes(unsure) ? Truth.NO : all;
    }

    /**
     * Whether it is about packets that a host sends to itself: they come back to it from a service
     * that it is part of. They matter only to a question that names both ends.
     */
    private boolean isHairpin(Rule rule) {
      return flow.sources().flatMap(AddressRanges::single).isEmpty()
          && isHairpin(rule.conditions());
    }

    private static boolean isHairpin(List<Condition> conditions) {
      Optional<Ip> from = Optional.empty();
      Optional<Ip> to = Optional.empty();
      for (Condition condition : conditions) {
        switch (condition) {
          case Condition.Source(var ranges) -> from = ranges.single();
          case Condition.Destination(var ranges) -> to = ranges.single();
          case Condition.AnyOf(var alternatives, var _) -> {
            if (!alternatives.isEmpty() && alternatives.stream().allMatch(Base::isHairpin)) {
              return true; // a set of such hosts
            }
          }
          default -> {}
        }
      }
      return from.isPresent() && from.equals(to);
    }

    /** Whether packets go on after a rule that takes those that match. */
    private static Truth after(Truth here, Truth match) {
      return match == Truth.YES ? Truth.NO : here.and(Truth.MAYBE);
    }

    /** Those that match are decided on; the others go on. */
    private Truth end(
        Rule rule, DecisionKind kind, Truth here, Truth match, Truth acts, List<Condition> unsure) {
      decide(rule, kind, acts, unsure);
      return match == Truth.YES && kind != DecisionKind.UNCLEAR ? Truth.NO : here;
    }

    private void decide(Rule rule, DecisionKind kind, Truth acts, List<Condition> unsure) {
      boolean certain = acts == Truth.YES && kind != DecisionKind.UNCLEAR;
      decisions.add(new Decision(base, rule, kind, certain, unsure));
      over |= certain && kind != DecisionKind.SHIELDED;
    }

    /**
     * Another program's rule that keeps packets from our rules further down the same base chain.
     */
    private void shield(Rule rule, Truth acts, List<Condition> unsure, boolean endsBase) {
      if (endsBase && oursAhead && !oursAsked) {
        decisions.add(new Decision(base, rule, DecisionKind.SHIELDED, acts == Truth.YES, unsure));
      }
    }

    private Truth ours(Rule rule, Truth here, Truth match, Truth acts, List<Condition> unsure) {
      oursAsked = true;
      Optional<Policy> policy = hook.ours();
      if (policy.isEmpty()) {
        decide(rule, DecisionKind.UNCLEAR, Truth.MAYBE, unsure); // ours, but unreadable
        endings++;
        return Truth.MAYBE;
      }
      List<Condition> provided = new ArrayList<>(unsure);
      Truth translates = new PolicyMatch(policy.get(), flow).translates(provided);
      Truth truth = acts.and(translates);
      if (translates != Truth.NO) {
        decisions.add(new Decision(base, rule, DecisionKind.OURS, truth == Truth.YES, provided));
        over |= truth == Truth.YES;
      }
      return match == Truth.YES && translates == Truth.YES ? Truth.NO : here;
    }

    /** Packets that are not exempt, or out of scope, go on to the next chains; one may be ours. */
    private void pin(Rule rule, Truth acts, List<Condition> unsure) {
      Optional<Policy> policy = hook.ours();
      List<Condition> provided = new ArrayList<>(unsure);
      Truth pins =
          policy.isPresent() ? new PolicyMatch(policy.get(), flow).pins(provided) : Truth.NO;
      if (pins != Truth.NO) {
        decide(rule, DecisionKind.PINNED, acts.and(pins), provided);
      }
    }
  }
}
