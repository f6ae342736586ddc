package ipmasq.backend.iptables;

import ipmasq.backend.iptables.SavedTable.Chain;
import ipmasq.backend.iptables.SavedTable.Line;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What stands in the nat table of ours.
 *
 * @param layout the rules as they stand, where all of them can be read
 * @param counters of the rules that can be read
 * @param jumps the right jumps in POSTROUTING: one, if all is well
 * @param remains what today's version would not have written
 */
record Found(
    Family family,
    Optional<Policy> policy,
    List<String> flaws,
    Own main,
    Own out,
    Optional<Layout> layout,
    Map<Rule, String> counters,
    List<Line> jumps,
    Remains remains)
    implements Observed {
  private static final int RULES_NAMED = 5;

  /**
   * One of our two chains.
   *
   * @param wanted whether somebody else's rule leads to it, so that the kernel will not let it go
   */
  record Own(boolean there, boolean wanted, boolean isEmpty) {
    static Own of(Chain chain) {
      return new Own(chain.usersOwn(), chain.wantedByOthers(), chain.kept().isEmpty());
    }

    /** Whether there is nothing of it to remove. */
    boolean gone() {
      return !there || wanted && isEmpty;
    }
  }

  static Found in(SavedTable table, Family family, Names names) {
    List<String> flaws = new ArrayList<>();
    Map<Rule, String> counters = new HashMap<>();
    Own main = Own.of(table.find(names.main()));
    Own out = Own.of(table.find(names.out()));
    Remains remains = Remains.in(table, family, names);
    List<Line> jumps = Remains.rightJumps(table, family, names);
    if (main.there() && jumps.isEmpty()) {
      flaws.add("the jump from POSTROUTING is missing");
    } else if (jumps.size() > 1) {
      flaws.add("the jump from POSTROUTING stands " + times(jumps.size()));
    }
    List<Line> foreign = new ArrayList<>();
    Layout layout =
        new Layout(
            rules(table.find(names.main()), family, counters, foreign),
            rules(table.find(names.out()), family, counters, foreign));
    Layout modern = layout.modern();
    Optional<Policy> policy = foreign.isEmpty() ? modern.policy(family, names) : Optional.empty();
    if (main.there() && main.isEmpty()) {
      flaws.add("chain " + names.main() + " is empty");
    } else if (main.there() && policy.isEmpty() && foreign.isEmpty()) {
      flaws.add("the rules of chain " + names.main() + " are incomplete or out of order");
    }
    if (!modern.equals(layout)) {
      flaws.add("rules worded by an older version");
    }
    name(foreign, flaws);
    if (policy.isPresent() && layout.out().isEmpty() && !out.gone()) {
      flaws.add("chain " + names.out() + " has no use any more");
    }
    flaws.addAll(remains.phrases(names));
    return new Found(
        family,
        policy,
        List.copyOf(flaws),
        main,
        out,
        foreign.isEmpty() ? Optional.of(layout) : Optional.empty(),
        counters,
        jumps,
        remains);
  }

  private static List<Rule> rules(
      Chain chain, Family family, Map<Rule, String> counters, List<Line> foreign) {
    List<Rule> rules = new ArrayList<>(chain.kept().size());
    for (Line line : chain.kept()) {
      Optional<Rule> rule = RuleReader.read(family, line.words());
      if (rule.isPresent() && Wording.ours(rule.get().comment())) {
        rules.add(rule.get());
        counters.putIfAbsent(rule.get(), line.counters());
      } else {
        foreign.add(line);
      }
    }
    return rules;
  }

  private static void name(List<Line> foreign, List<String> flaws) {
    for (Line line : foreign.subList(0, Math.min(foreign.size(), RULES_NAMED))) {
      flaws.add("a rule that is not ours: " + SavedTable.shortened(line.toString()));
    }
    if (foreign.size() > RULES_NAMED) {
      flaws.add(foreign.size() - RULES_NAMED + " more rules that are not ours");
    }
  }

  private static String times(int count) {
    return count == 2 ? "twice" : count + " times";
  }

  @Override
  public boolean absent() {
    return jumps.isEmpty() && remains.isEmpty() && main.gone() && out.gone();
  }
}
