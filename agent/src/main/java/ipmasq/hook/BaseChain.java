package ipmasq.hook;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * A chain that the hook calls, with the chains that it jumps to.
 *
 * @param name for people: {@code iptables-nft POSTROUTING}, {@code table ip mine chain post}
 * @param entry the name of the chain itself
 * @param drops whether its policy is drop
 */
public record BaseChain(
    String name, HookPoint point, int priority, String entry, boolean drops, ReachedChains chains) {
  /** The priority of iptables' nat POSTROUTING. */
  public static final int NF_IP_PRI_NAT_SRC = 100;

  /** The priority of iptables' nat PREROUTING. */
  public static final int NF_IP_PRI_NAT_DST = -100;

  /** The priority of connection tracking, at prerouting and at output. */
  public static final int NF_IP_PRI_CONNTRACK = -200;

  /** Whether it runs, or may run, before the connection is known to the kernel. */
  public boolean isBeforeTracking() {
    return point != HookPoint.POSTROUTING && priority <= NF_IP_PRI_CONNTRACK;
  }

  /** The chains of a table, by name. */
  public interface ReachedChains {
    /** Empty if it cannot be read. */
    Optional<List<Rule>> rules(String chain);
  }

  /** Chains that were read. */
  public record ChainsRead(Map<String, List<Rule>> chains) implements ReachedChains {
    public ChainsRead {
      chains = Map.copyOf(chains);
    }

    @Override
    public Optional<List<Rule>> rules(String chain) {
      return Optional.ofNullable(chains.get(chain));
    }
  }

  /** A chain at postrouting. */
  public BaseChain(String name, int priority, String entry, Map<String, List<Rule>> chains) {
    this(name, HookPoint.POSTROUTING, priority, entry, false, new ChainsRead(chains));
  }

  /** A chain that could not be read, and why. */
  public static BaseChain unreadable(String name, HookPoint point, int priority, String why) {
    Rule rule = new Rule(List.of(), new Action.UnknownAction(why), why);
    ChainsRead chains = new ChainsRead(Map.of("", List.of(rule)));
    return new BaseChain(name, point, priority, "", false, chains);
  }

  /** Whether a rule that can be reached from it has such an action. */
  public boolean has(Predicate<Action> action) {
    return rules().stream().anyMatch(rule -> action.test(rule.action()));
  }

  /** The same where rules that do something unknown count as harmless, except such ones. */
  public BaseChain trusting(Predicate<Action> except) {
    ReachedChains all =
        chain ->
            chains
                .rules(chain)
                .map(rules -> rules.stream().map(rule -> trusting(rule, except)).toList());
    return new BaseChain(name, point, priority, entry, drops, all);
  }

  private static Rule trusting(Rule rule, Predicate<Action> except) {
    return rule.action() instanceof Action.UnknownAction && !except.test(rule.action())
        ? new Rule(rule.conditions(), new Action.NoAction(), rule.text())
        : rule;
  }

  /** All rules that can be reached from it. */
  List<Rule> rules() {
    Map<String, List<Rule>> seen = new LinkedHashMap<>();
    List<String> todo = new ArrayList<>(List.of(entry));
    while (!todo.isEmpty()) {
      String chain = todo.removeLast();
      if (!seen.containsKey(chain)) {
        List<Rule> rules = chains.rules(chain).orElse(List.of());
        seen.put(chain, rules);
        rules.forEach(rule -> rule.target().ifPresent(todo::add));
      }
    }
    return seen.values().stream().flatMap(List::stream).toList();
  }
}
