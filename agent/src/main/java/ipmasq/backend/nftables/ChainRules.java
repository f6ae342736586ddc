package ipmasq.backend.nftables;

import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Expression;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.Statement.Counter;
import java.util.ArrayList;
import java.util.List;

/** A base chain and its rules, in order: as it should be, or as the kernel has it. */
record ChainRules(Chain chain, List<Rule> rules) {
  ChainRules {
    rules = List.copyOf(rules);
  }

  String name() {
    return chain.name();
  }

  /** Whether it is attached to the same hook and priority, which cannot be changed in place. */
  boolean sameHook(ChainRules other) {
    return chain.base().equals(other.chain.base());
  }

  /** Equal but for handles and counters. */
  boolean sameAs(ChainRules other) {
    if (!name().equals(other.name()) || !sameHook(other) || rules.size() != other.rules.size()) {
      return false;
    }
    for (int i = 0; i < rules.size(); i++) {
      if (!same(rules.get(i), other.rules.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static boolean same(Rule desired, Rule found) {
    return desired.comment().equals(found.comment()) && uncounted(desired).equals(uncounted(found));
  }

  private static List<Expression> uncounted(Rule rule) {
    List<Expression> expressions = new ArrayList<>(rule.expressions());
    expressions.replaceAll(e -> e instanceof Counter ? NftablesLayout.COUNTER : e);
    return expressions;
  }
}
