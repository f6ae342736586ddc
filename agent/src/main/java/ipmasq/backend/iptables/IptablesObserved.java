package ipmasq.backend.iptables;

import ipmasq.backend.iptables.SavedTable.Chain;
import ipmasq.backend.iptables.SavedTable.Line;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.ForeignText;
import ipmasq.plan.Observed;
import ipmasq.plan.Tally;
import ipmasq.plan.Tally.Counter;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Our rules in the nat table.
 *
 * @param layout the rules as found, if all of them can be read and none must be worded again
 * @param counters of the rules that can be read
 * @param jumps the right jumps in POSTROUTING: one, if all is well
 * @param stale what today's version would not have written
 * @param leftovers what goes with our rules when they are removed
 * @param remarks what people should know and no plan can change
 */
record IptablesObserved(
    Family family,
    Optional<Policy> policy,
    Optional<Policy> ours,
    List<String> flaws,
    Own main,
    Own out,
    Optional<IptablesLayout> layout,
    Map<IptablesRule, String> counters,
    List<Line> jumps,
    StaleRules stale,
    List<String> leftovers,
    List<String> remarks)
    implements Observed {
  private static final int RULES_NAMED = 5;

  /**
   * One of our two chains.
   *
   * @param used whether another program's rule jumps to it, so that the kernel refuses to delete it
   */
  record Own(boolean there, boolean used, boolean isEmpty) {
    static Own of(Chain chain) {
      return new Own(chain.isUserDefined(), chain.isUsedByOthers(), chain.kept().isEmpty());
    }

    /** Whether there is nothing of it to remove. */
    boolean gone() {
      return !there || used && isEmpty;
    }
  }

  static IptablesObserved in(SavedTable table, Family family, ChainNames names) {
    List<String> flaws = new ArrayList<>();
    Map<IptablesRule, String> counters = new HashMap<>();
    Own main = Own.of(table.find(names.main()));
    Own out = Own.of(table.find(names.out()));
    StaleRules stale = StaleRules.in(table, family, names);
    List<Line> jumps = StaleRules.rightJumps(table, family, names);
    if (main.there() && jumps.isEmpty()) {
      flaws.add("the jump from POSTROUTING is missing");
    } else if (jumps.size() > 1) {
      flaws.add("the jump from POSTROUTING is there " + times(jumps.size()));
    }
    List<Line> foreign = new ArrayList<>();
    List<Line> older = new ArrayList<>();
    IptablesLayout layout =
        new IptablesLayout(
            rules(table.find(names.main()), family, counters, foreign, older),
            rules(table.find(names.out()), family, counters, foreign, older));
    Optional<Policy> ours = layout.policy(family, names);
    Optional<Policy> policy = foreign.isEmpty() ? ours : Optional.empty();
    if (main.there() && main.isEmpty()) {
      flaws.add("chain " + names.main() + " is empty");
    } else if (main.there() && policy.isEmpty() && foreign.isEmpty()) {
      flaws.add("the rules of chain " + names.main() + " are incomplete or out of order");
    }
    if (!older.isEmpty()) {
      flaws.add("rules worded by an older version");
    }
    List<String> leftovers = new ArrayList<>();
    name(foreign, leftovers);
    flaws.addAll(leftovers);
    if (policy.isPresent() && layout.out().isEmpty() && !out.gone()) {
      flaws.add("chain " + names.out() + " has no use any more");
    }
    leftovers.addAll(stale.phrases(names));
    flaws.addAll(stale.phrases(names));
    return new IptablesObserved(
        family,
        policy,
        ours,
        List.copyOf(flaws),
        main,
        out,
        foreign.isEmpty() && older.isEmpty() ? Optional.of(layout) : Optional.empty(),
        counters,
        jumps,
        stale,
        List.copyOf(leftovers),
        stale.remarks());
  }

  /**
   * Whether the chain with our name is another program's: no rule in it, or jumping to it, is ours.
   */
  boolean isSomebodyElses() {
    boolean nothingOfOurs = layout.isEmpty() && counters.isEmpty();
    return main.there() && !main.isEmpty() && nothingOfOurs && jumps.isEmpty() && stale.isEmpty();
  }

  private static List<IptablesRule> rules(
      Chain chain,
      Family family,
      Map<IptablesRule, String> counters,
      List<Line> foreign,
      List<Line> older) {
    List<IptablesRule> rules = new ArrayList<>(chain.kept().size());
    for (Line line : chain.kept()) {
      List<String> words = line.words();
      Optional<IptablesRule> rule = IptablesRule.read(family, words);
      if (rule.isPresent() && RuleComments.ours(rule.get().comment())) {
        rules.add(rule.get());
        counters.putIfAbsent(rule.get(), line.counters());
        if (!words.contains(rule.get().comment())) {
          older.add(line);
        }
      } else {
        foreign.add(line);
      }
    }
    return rules;
  }

  private static void name(List<Line> foreign, List<String> flaws) {
    for (Line line : foreign.subList(0, Math.min(foreign.size(), RULES_NAMED))) {
      flaws.add("a rule that is not ours: " + ForeignText.shortened(line.toString()));
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
    return jumps.isEmpty() && stale.isEmpty() && main.gone() && out.gone();
  }

  @Override
  public Optional<Tally> tally() {
    Map<Cidr, Counter> ranges = new HashMap<>();
    Counter exempted = Counter.NONE;
    Counter translated = Counter.NONE;
    for (Map.Entry<IptablesRule, String> entry : counters.entrySet()) {
      IptablesRule rule = entry.getKey();
      Counter counter = counter(entry.getValue());
      if (rule.target().equals(IptablesRule.MASQUERADE)
          || rule.target().equals(IptablesRule.SNAT)) {
        translated = translated.plus(counter);
      } else if (!rule.comment().equals(RuleComments.OUTBOUND)) {
        ranges.merge(rule.destination(), counter, Counter::plus);
        exempted = rule.target().equals(IptablesRule.RETURN) ? exempted.plus(counter) : exempted;
      }
    }
    return counters.isEmpty()
        ? Optional.empty()
        : Optional.of(new Tally(ranges, exempted, translated));
  }

  /** {@code [packets:bytes]}, as iptables-save prints it. */
  private static Counter counter(String text) {
    int colon = text.indexOf(':');
    return colon < 0
        ? Counter.NONE
        : new Counter(
            Long.parseUnsignedLong(text, 1, colon, 10),
            Long.parseUnsignedLong(text, colon + 1, text.length() - 1, 10));
  }
}
