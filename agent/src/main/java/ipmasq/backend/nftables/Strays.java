package ipmasq.backend.nftables;

import ipmasq.netlink.nftables.Batch;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.NftSet;
import java.util.List;
import java.util.stream.Stream;

/**
 * Chains and sets in our table that are not ours: somebody added them, or an earlier version of the
 * agent did. Once the table has an owner, nobody else could remove them.
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
