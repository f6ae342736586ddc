package ipmasq.hook;

import ipmasq.hook.Decision.Kind;
import ipmasq.net.IpRange;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One walk of packets through the hook. Where a condition cannot be told, the walk goes both ways
 * at once: what is behind it is reached perhaps, and so is what follows it.
 */
final class Walk {
  private static final int DEEPEST = 32; // the kernel allows fewer jumps into jumps

  private final Hook hook;
  private final Flow flow;
  private final List<Decision> decisions = new ArrayList<>();
  private boolean markKnown = true;
  private boolean oursAsked;
  private boolean oursAhead;
  private boolean over;
  private int endings; // rules that may have taken packets out of the base chain

  Walk(Hook hook, Flow flow) {
    this.hook = hook;
    this.flow = flow;
  }

  List<Decision> decisions() {
    Truth reached = Truth.YES;
    for (BaseChain base : hook.chains()) {
      oursAhead = leadsToOurs(base);
      oursAsked = false;
      int before = decisions.size();
      new Base(base).run(base.entry(), reached, List.of(), 0);
      if (over) {
        break;
      }
      if (decisions.size() > before) {
        reached = Truth.MAYBE;
      }
    }
    return decisions;
  }

  static boolean leadsToOurs(BaseChain base) {
    return base.chains().values().stream()
        .anyMatch(rules -> rules.stream().anyMatch(rule -> rule.action() instanceof Action.Ours));
  }

  /** The walk through one base chain. */
  private final class Base {
    private final BaseChain base;

    Base(BaseChain base) {
      this.base = base;
    }

    /** Walks a chain; whether packets come out of its end, or return. */
    Truth run(String name, Truth reached, List<Condition> path, int depth) {
      List<Rule> rules = base.chains().get(name);
      if (rules == null || depth > DEEPEST) {
        Rule missing = new Rule(List.of(), new Action.Unknown("chain " + name), "chain " + name);
        decide(missing, Kind.UNCLEAR, Truth.MAYBE, path);
        return Truth.MAYBE;
      }
      Truth here = reached;
      Truth out = Truth.NO;
      for (Rule rule : rules) {
        if (here == Truth.NO || over) {
          break;
        }
        List<Condition> unsure = new ArrayList<>(path);
        Truth match = match(rule, unsure);
        if (match == Truth.NO) {
          continue;
        }
        Truth acts = here.and(match);
        switch (rule.action()) {
          case Action.Nothing() -> {}
          case Action.SetMark() -> markKnown = false;
          case Action.Return() -> {
            out = out.or(acts);
            shield(rule, acts, unsure, depth == 0);
            here = after(here, match);
          }
          case Action.Accept() -> {
            endings++;
            shield(rule, acts, unsure, true);
            here = after(here, match);
          }
          case Action.Drop() -> here = end(rule, Kind.DROPPED, here, match, acts, unsure);
          case Action.Keep() -> here = end(rule, Kind.KEPT, here, match, acts, unsure);
          case Action.Translate _ -> here = end(rule, Kind.TRANSLATED, here, match, acts, unsure);
          case Action.Unknown _ -> {
            decide(rule, Kind.UNCLEAR, Truth.MAYBE, unsure);
            here = Truth.MAYBE;
          }
          case Action.Jump(var chain) -> {
            int before = endings;
            Truth back = run(chain, acts, unsure, depth + 1);
            // Those that did not jump go on here; all do where the chain took none of the others.
            here = match == Truth.YES ? back : endings == before ? here : here.and(Truth.MAYBE);
          }
          case Action.Goto(var chain) -> {
            endings++;
            out = out.or(run(chain, acts, unsure, depth + 1));
            here = after(here, match);
          }
          case Action.Ours() -> here = ours(rule, here, match, acts, unsure);
          case Action.Pin() -> pin(rule, acts, unsure);
        }
      }
      return over ? Truth.NO : out.or(here);
    }

    private Truth match(Rule rule, List<Condition> unsure) {
      Truth all = Truth.YES;
      List<Condition> open = new ArrayList<>();
      for (Condition condition : rule.conditions()) {
        Truth holds = holds(condition);
        all = all.and(holds);
        if (holds == Truth.MAYBE) {
          open.add(condition);
        }
      }
      unsure.addAll(open);
      return all;
    }

    private Truth holds(Condition condition) {
      boolean ofMark =
          condition instanceof Condition.Mark
              || condition instanceof Condition.Not(Condition.Mark _);
      return ofMark && !markKnown ? Truth.MAYBE : condition.holds(flow);
    }

    /** Whether packets go on behind a rule that takes those which match. */
    private static Truth after(Truth here, Truth match) {
      return match == Truth.YES ? Truth.NO : here.and(Truth.MAYBE);
    }

    private Truth end(
        Rule rule, Kind kind, Truth here, Truth match, Truth acts, List<Condition> unsure) {
      decide(rule, kind, acts, unsure);
      return after(here, match);
    }

    private void decide(Rule rule, Kind kind, Truth acts, List<Condition> unsure) {
      endings++;
      decisions.add(new Decision(base, rule, kind, acts == Truth.YES, unsure));
      over |= acts == Truth.YES && kind != Kind.SHIELDED && kind != Kind.UNCLEAR;
    }

    /** A rule of others that keeps packets from rules of ours further down the same base chain. */
    private void shield(Rule rule, Truth acts, List<Condition> unsure, boolean endsBase) {
      if (endsBase && oursAhead && !oursAsked) {
        decisions.add(new Decision(base, rule, Kind.SHIELDED, acts == Truth.YES, unsure));
      }
    }

    private Truth ours(Rule rule, Truth here, Truth match, Truth acts, List<Condition> unsure) {
      oursAsked = true;
      Optional<Policy> policy = hook.ours();
      if (policy.isEmpty()) {
        return here;
      }
      List<Condition> provided = new ArrayList<>(unsure);
      Truth translates = translates(policy.get(), provided);
      Truth truth = acts.and(translates);
      if (translates != Truth.NO) {
        endings++;
        decisions.add(new Decision(base, rule, Kind.OURS, truth == Truth.YES, provided));
        over |= truth == Truth.YES;
      }
      return match == Truth.YES && translates == Truth.YES
          ? Truth.NO
          : here.and(translates == Truth.NO ? Truth.YES : Truth.MAYBE);
    }

    /** What is not exempt, or not ours, goes on to the next chains, of which one may be ours. */
    private void pin(Rule rule, Truth acts, List<Condition> unsure) {
      Optional<Policy> policy = hook.ours();
      List<Condition> provided = new ArrayList<>(unsure);
      Truth pins = policy.isPresent() ? pins(policy.get(), provided) : Truth.NO;
      if (pins != Truth.NO) {
        decide(rule, Kind.PINNED, acts.and(pins), provided);
      }
    }

    private Truth translates(Policy policy, List<Condition> provided) {
      return scope(policy, provided).and(destination(policy, provided));
    }

    private Truth pins(Policy policy, List<Condition> provided) {
      return scope(policy, provided).and(destination(policy, provided).not());
    }

    /** Whether the policy speaks of these packets at all. */
    private Truth scope(Policy policy, List<Condition> provided) {
      Truth truth = Truth.of(!flow.local());
      if (!policy.sources().isEmpty()) {
        List<IpRange> ranges = policy.sources().stream().map(IpRange::of).toList();
        truth = truth.and(asked(new Condition.Source(ranges), provided));
      }
      if (!policy.interfaces().isEmpty()) {
        truth = truth.and(asked(new Condition.Out(policy.interfaces()), provided));
      }
      return truth;
    }

    private Truth asked(Condition condition, List<Condition> provided) {
      Truth holds = condition.holds(flow);
      if (holds == Truth.MAYBE) {
        provided.add(condition);
      }
      return holds;
    }

    /** The first destination that holds all decides; one that holds a part leaves it open. */
    private Truth destination(Policy policy, List<Condition> provided) {
      Truth open = Truth.NO; // whether an earlier destination may have decided
      Treatment earlier = Treatment.TRANSLATE;
      for (Destination destination : policy.destinations()) {
        Condition inside = Condition.destination(destination.range());
        Truth holds = inside.holds(flow);
        if (holds == Truth.YES) {
          Truth truth = Truth.of(destination.treatment() == Treatment.TRANSLATE);
          return open == Truth.NO || earlier == destination.treatment() ? truth : Truth.MAYBE;
        }
        if (holds == Truth.MAYBE) {
          open = Truth.MAYBE;
          earlier = destination.treatment();
          provided.add(inside);
        }
      }
      return open == Truth.NO || earlier == Treatment.TRANSLATE ? Truth.YES : Truth.MAYBE;
    }
  }
}
