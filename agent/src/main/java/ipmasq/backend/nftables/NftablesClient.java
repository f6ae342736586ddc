package ipmasq.backend.nftables;

import ipmasq.backend.nftables.NftablesObserved.Strays;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.netlink.Answer;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.nftables.Batch;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Commit;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.netlink.nftables.Nftables;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Queries to nf_tables. The socket opens at the first query and stays open, because it owns the
 * table.
 */
final class NftablesClient implements AutoCloseable {
  /** How often to read again if the ruleset changes meanwhile. */
  private static final int ATTEMPTS = 5;

  private @Nullable Nftables nftables;

  private Nftables nftables() throws QueryFailed {
    Nftables open = nftables;
    if (open == null) {
      try {
        open = Nftables.open();
      } catch (NetlinkUnavailable unavailable) {
        throw new QueryFailed(unavailable);
      }
      nftables = open;
    }
    return open;
  }

  int port() throws QueryFailed {
    return nftables().port();
  }

  Commit commit(Batch batch) throws QueryFailed {
    return batch.isEmpty() ? new Commit.Committed() : nftables().commit(batch);
  }

  Integer generation() throws QueryFailed {
    return given("generation", nftables().generation());
  }

  Optional<Table> table() throws QueryFailed {
    return given("table", nftables().find(TableNames.TABLE));
  }

  Optional<Table> find(Table table) throws QueryFailed {
    return given("table", nftables().find(table));
  }

  /** A chain's rules without their counters; the same value whenever the chain is missing. */
  String digest(Chain chain) throws QueryFailed {
    return given("rules", nftables().digest(chain));
  }

  /** In nftables mode kube-proxy keeps one table of its name per family. */
  boolean hasKubeProxy() throws QueryFailed {
    return find(new Table(TableFamily.IP, "kube-proxy")).isPresent()
        || find(new Table(TableFamily.IP6, "kube-proxy")).isPresent();
  }

  /** A consistent snapshot of our table. */
  NftablesObserved observe(Family family) throws QueryFailed {
    QueryFailed last = new QueryFailed("our table", new NetlinkFailure.Interrupted());
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        Integer before = generation();
        NftablesObserved observed = read(family);
        if (before.equals(generation())) {
          return observed;
        }
      } catch (QueryFailed unanswered) {
        if (!unanswered.passing()) {
          throw unanswered;
        }
        last = unanswered;
      }
    }
    throw last;
  }

  private NftablesObserved read(Family family) throws QueryFailed {
    Optional<Table> table = table();
    if (table.isEmpty()) {
      return NftablesObserved.nothing(family);
    }
    List<ChainRules> chains = new ArrayList<>();
    for (Chain ours : List.of(TableNames.chain(family), TableNames.pin(family))) {
      Optional<Chain> chain = given("chain", nftables().find(ours));
      if (chain.isPresent()) {
        chains.add(new ChainRules(chain.get(), given("rules", nftables().rules(chain.get()))));
      }
    }
    Optional<NftSet> exempt = given("set", nftables().find(TableNames.exempt(family)));
    Optional<NftSet> sources = given("set", nftables().find(TableNames.sources(family)));
    if (isForeign(exempt, TableNames.exempt(family))
        || isForeign(sources, TableNames.sources(family))) {
      return NftablesObserved.foreign(family, table.get(), chains);
    }
    return assemble(family, table.get(), content(exempt), content(sources), chains, strays(family));
  }

  /** The kernel lists the chains of all {@code inet} tables; programs with many use others. */
  private Strays strays(Family family) throws QueryFailed {
    List<Chain> chains =
        given("chains", nftables().chains(TableNames.TABLE.family())).stream()
            .filter(chain -> chain.table().equals(TableNames.TABLE.name()))
            .filter(chain -> !TableNames.isOurs(chain))
            .toList();
    List<NftSet> sets =
        given("sets", nftables().sets(TableNames.TABLE)).stream()
            .filter(set -> !set.flags().contains(NftSet.SetFlag.ANONYMOUS))
            .filter(set -> !TableNames.isOurs(set))
            .filter(set -> !set.name().equals(TableNames.earlierSet(family.other())))
            .toList();
    return new Strays(chains, sets);
  }

  private static boolean isForeign(Optional<NftSet> found, NftSet ours) {
    return found.isPresent()
        && !(found.get().key().equals(ours.key()) && found.get().flags().equals(ours.flags()));
  }

  private static NftablesObserved assemble(
      Family family,
      Table table,
      Optional<SetContent> exempt,
      Optional<SetContent> sources,
      List<ChainRules> chains,
      Strays strays) {
    List<String> flaws = new ArrayList<>(strays.flaws());
    Optional<Policy> policy =
        exempt.flatMap(
            content ->
                PolicyDecoder.policy(
                    family,
                    chains,
                    content.blocks(),
                    sources.map(SetContent::blocks).orElse(Cidrs.NONE)));
    if (policy.isEmpty() && (!chains.isEmpty() || exempt.isPresent())) {
      flaws.add("our chains, their rules or sets are not as they should be");
    }
    if (policy.isPresent() && table.flags().contains(Table.Flag.DORMANT)) {
      flaws.add("the table is dormant");
    }
    return new NftablesObserved(
        family, Optional.of(table), exempt, sources, chains, strays, false, policy, flaws);
  }

  private Optional<SetContent> content(Optional<NftSet> set) throws QueryFailed {
    if (set.isEmpty()) {
      return Optional.empty();
    }
    SetContent.Reader reader = new SetContent.Reader(set.get());
    Optional<NetlinkFailure> failure = nftables().elements(set.get(), reader::add);
    if (failure.isPresent()) {
      throw new QueryFailed("elements of " + set.get(), failure.get());
    }
    return Optional.of(reader.content());
  }

  /** Whether the table holds nothing of the other family. */
  boolean holdsOnly(Family family) throws QueryFailed {
    Family other = family.other();
    return given("chain", nftables().find(TableNames.chain(other))).isEmpty()
        && given("set", nftables().find(TableNames.exempt(other))).isEmpty();
  }

  private static <T> T given(String question, Answer<T> answer) throws QueryFailed {
    return switch (answer) {
      case Answer.Given<T>(var value) -> value;
      case Answer.Failed<T>(var failure) -> throw new QueryFailed(question, failure);
    };
  }

  @Override
  public void close() {
    if (nftables != null) {
      nftables.close();
    }
  }
}
