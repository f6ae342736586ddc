package ipmasq.backend.nftables;

import ipmasq.net.Family;
import ipmasq.netlink.nftables.Batch;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Expression;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.Statement.Counter;
import ipmasq.netlink.nftables.Table;
import ipmasq.plan.Observed;
import ipmasq.plan.Tally;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Our table's content for one family.
 *
 * @param table our table, which both families share
 * @param exempt the set of exempt destinations; empty if there is none
 * @param sources the same for sources
 * @param chains those with our names
 * @param strays what else is in the table
 * @param foreign whether an object with one of our names is of the wrong kind, so that the table
 *     must be replaced
 */
record NftablesObserved(
    Family family,
    Optional<Table> table,
    Optional<SetContent> exempt,
    Optional<SetContent> sources,
    List<ChainRules> chains,
    Strays strays,
    boolean foreign,
    Optional<Policy> policy,
    List<String> flaws)
    implements Observed {

  NftablesObserved {
    chains = List.copyOf(chains);
    flaws = List.copyOf(flaws);
  }

  /** The agent has no table. */
  static NftablesObserved nothing(Family family) {
    return unread(family, Optional.empty(), List.of(), List.of());
  }

  /** Sets with our names are of the wrong kind. */
  static NftablesObserved foreign(Family family, Table table, List<ChainRules> chains) {
    return unread(family, Optional.of(table), chains, List.of("a set that is not of our kind"));
  }

  private static NftablesObserved unread(
      Family family, Optional<Table> table, List<ChainRules> chains, List<String> flaws) {
    Optional<SetContent> none = Optional.empty();
    boolean foreign = table.isPresent();
    return new NftablesObserved(
        family, table, none, none, chains, Strays.NONE, foreign, Optional.empty(), flaws);
  }

  NftablesObserved withFlaws(List<String> more) {
    List<String> all = new ArrayList<>(flaws);
    all.addAll(more);
    return new NftablesObserved(
        family, table, exempt, sources, chains, strays, foreign, policy, all);
  }

  /** The port of the socket that owns the table; 0 if none. */
  int owner() {
    return table.map(Table::owner).orElse(0);
  }

  /** Whether the set of destinations has a counter per range; large sets never do. */
  boolean isCounted() {
    return exempt
        .filter(content -> !content.blocks().isEmpty())
        .filter(content -> content.blocks().size() <= TableUpdate.COUNTED)
        .filter(content -> content.counters().isEmpty())
        .isEmpty();
  }

  /** The chain of this name. */
  Optional<ChainRules> chain(String name) {
    return chains.stream().filter(chain -> chain.name().equals(name)).findFirst();
  }

  /** Nothing of this family; the table may be there for the other one. */
  @Override
  public boolean absent() {
    return exempt.isEmpty() && sources.isEmpty() && chains.isEmpty() && !foreign;
  }

  @Override
  public Optional<Tally> tally() {
    if (chains.isEmpty()) {
      return Optional.empty();
    }
    Tally.Counter exempted = Tally.Counter.NONE;
    Tally.Counter translated = Tally.Counter.NONE;
    for (ChainRules chain : chains) {
      for (Rule rule : chain.rules()) {
        if (rule.comment().equals(TableNames.OUTBOUND_COMMENT)) {
          translated = translated.plus(counted(rule));
        } else if (rule.comment().equals(TableNames.EXEMPT_COMMENT)
            || rule.comment().equals(TableNames.PIN_COMMENT)) {
          exempted = exempted.plus(counted(rule));
        }
      }
    }
    return Optional.of(
        new Tally(exempt.map(SetContent::counters).orElse(Map.of()), exempted, translated));
  }

  private static Tally.Counter counted(Rule rule) {
    for (Expression expression : rule.expressions()) {
      if (expression instanceof Counter(var packets, var bytes)) {
        return new Tally.Counter(packets, bytes);
      }
    }
    return Tally.Counter.NONE;
  }

  /**
   * Chains and sets in our table that are not ours: somebody added them, or an earlier version of
   * the agent did. Once the table has an owner, nobody else could remove them.
   *
   * @param sets named ones; their elements may lead to the chains
   */
  record Strays(List<Chain> chains, List<NftSet> sets) {
    static final Strays NONE = new Strays(List.of(), List.of());

    Strays {
      chains = List.copyOf(chains);
      sets = List.copyOf(sets);
    }

    List<String> flaws() {
      return Stream.concat(
              chains.stream().map(chain -> "a chain that is not ours: " + chain.name()),
              sets.stream().map(set -> "a set that is not ours: " + set.name()))
          .toList();
    }

    /** Rules and elements may lead from one to the other, so these go first. */
    void delete(Batch batch) {
      chains.forEach(batch::flush);
      sets.forEach(batch::delete);
      chains.forEach(batch::delete);
    }
  }
}
