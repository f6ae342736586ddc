package ipmasq.backend.iptables;

import ipmasq.backend.Failure;
import ipmasq.net.Family;
import ipmasq.netlink.Answer;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Nftables;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The nat table of iptables-nft as nf_tables reports it, over a socket that opens at the first
 * query: no child process, and independent of the table's size. Used by one thread.
 */
class NatTable implements AutoCloseable {
  /** What nf_tables says of a chain. */
  sealed interface NatChain {
    /**
     * It exists.
     *
     * @param rules how many it has
     * @param jumps how many rules lead to it
     */
    record There(int rules, int jumps) implements NatChain {}

    record Missing() implements NatChain {}

    record Unknown(Failure failure) implements NatChain {}
  }

  private @Nullable Nftables nftables;

  NatChain chain(Family family, String name) {
    Chain chain = new Chain(table(family), name);
    try {
      return switch (open().uses(chain)) {
        case Answer.Failed<Optional<Integer>>(var why) -> unknown(family, why);
        case Answer.Given<Optional<Integer>>(var uses) when uses.isEmpty() ->
            new NatChain.Missing();
        case Answer.Given<Optional<Integer>>(var uses) ->
            switch (open().count(chain)) {
              case Answer.Failed<Integer>(var why) -> unknown(family, why);
              case Answer.Given<Integer>(var rules) ->
                  new NatChain.There(rules, Math.max(0, uses.get() - rules));
            };
      };
    } catch (NetlinkUnavailable why) {
      return unknown(family, why.getMessage());
    }
  }

  /** Whether the table is known to be dormant: none of its rules sees a packet. */
  boolean isDormant(Family family) {
    try {
      return open().find(table(family)) instanceof Answer.Given<Optional<Table>>(var table)
          && table.filter(it -> it.flags().contains(Table.Flag.DORMANT)).isPresent();
    } catch (NetlinkUnavailable unknown) {
      return false;
    }
  }

  private Nftables open() throws NetlinkUnavailable {
    Nftables open = nftables == null ? Nftables.open() : nftables;
    nftables = open;
    return open;
  }

  /** Closes the socket; the next query opens another. */
  @Override
  public void close() {
    if (nftables != null) {
      nftables.close();
      nftables = null;
    }
  }

  private static Table table(Family family) {
    return new Table(family == Family.IPV4 ? TableFamily.IP : TableFamily.IP6, "nat");
  }

  private static NatChain unknown(Family family, @Nullable Object why) {
    return new NatChain.Unknown(
        new Failure(
            "nf_tables does not say which chains the " + family + " nat table has: " + why,
            "give the agent the capability NET_ADMIN, and see that the kernel has nf_tables"));
  }
}
