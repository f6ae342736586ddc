package ipmasq.backend.nftables;

import ipmasq.net.Family;
import ipmasq.net.IpRange;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Expression;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.Table;
import ipmasq.plan.Counter;
import ipmasq.plan.Observed;
import ipmasq.plan.Tally;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the kernel holds of ours for one family.
 *
 * @param table our table, which both families share
 * @param exempt the elements of the set of exempt destinations; empty: there is no such set
 * @param sources the same for sources
 * @param chain our base chain
 * @param rules its rules, in order
 */
record Held(
    Family family,
    Optional<Table> table,
    Optional<List<IpRange>> exempt,
    Optional<List<IpRange>> sources,
    Optional<Chain> chain,
    List<Rule> rules,
    Optional<Policy> policy,
    List<String> flaws)
    implements Observed {

  /** There is no table of ours. */
  static Held nothing(Family family) {
    return new Held(
        family,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        List.of(),
        Optional.empty(),
        List.of());
  }

  /** Everything as a policy needs it. */
  static Held whole(Table table, Policy policy) {
    return new Held(
        policy.family(),
        Optional.of(table),
        Optional.of(Update.ranges(policy.exempt())),
        policy.sources().isEmpty()
            ? Optional.empty()
            : Optional.of(Update.ranges(policy.sources())),
        Optional.of(Names.chain(policy.family())),
        Layout.rules(policy),
        Optional.of(policy),
        List.of());
  }

  Held withFlaws(List<String> more) {
    List<String> all = new ArrayList<>(flaws);
    all.addAll(more);
    return new Held(family, table, exempt, sources, chain, rules, policy, List.copyOf(all));
  }

  /** Nothing of this family; the table may be there for the other one. */
  @Override
  public boolean absent() {
    return exempt.isEmpty() && sources.isEmpty() && chain.isEmpty();
  }

  /** The set does not count its elements: that would be a counter on every core for each. */
  @Override
  public Optional<Tally> tally() {
    Counter exempted = Counter.NONE;
    Counter translated = Counter.NONE;
    for (Rule rule : rules) {
      for (Expression expression : rule.expressions()) {
        if (expression instanceof ipmasq.netlink.nftables.Counter(var packets, var bytes)) {
          Counter counter = new Counter(packets, bytes);
          if (rule.comment().equals(Names.EXEMPT_COMMENT)) {
            exempted = exempted.plus(counter);
          } else {
            translated = translated.plus(counter);
          }
        }
      }
    }
    return policy.isPresent()
        ? Optional.of(new Tally(Map.of(), exempted, translated))
        : Optional.empty();
  }
}
