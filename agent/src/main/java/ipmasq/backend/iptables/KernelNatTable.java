package ipmasq.backend.iptables;

import ipmasq.backend.Failure;
import ipmasq.net.Family;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Nftables;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The real one, over a socket that opens at the first query. Used by one thread. */
final class KernelNatTable implements NatTable {
  private @Nullable Nftables nftables;

  /** One or two queries to the kernel. */
  private interface NatQuestion<T> {
    T ask(Nftables nftables) throws NetlinkUnavailable, AskFailed;
  }

  /** The kernel did not answer. Never leaves this class. */
  private static final class AskFailed extends Exception {
    private static final long serialVersionUID = 1;

    AskFailed(NetlinkFailure why) {
      super(
          why instanceof NetlinkFailure.Refused(var refusal) ? refusal.toString() : why.toString());
    }
  }

  @Override
  public NatAnswer<Optional<Use>> chain(Family family, String name) {
    Chain chain = new Chain(table(family), name);
    return answer(
        family,
        nft -> {
          Optional<Integer> uses = given(nft.uses(chain));
          if (uses.isEmpty()) {
            return Optional.empty();
          }
          int rules = given(nft.count(chain));
          return Optional.of(new Use(rules, Math.max(0, uses.get() - rules)));
        });
  }

  @Override
  public NatAnswer<Boolean> dormant(Family family) {
    return answer(
        family,
        nft ->
            given(nft.find(table(family)))
                .filter(table -> table.flags().contains(Table.TableFlag.DORMANT))
                .isPresent());
  }

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

  private <T> NatAnswer<T> answer(Family family, NatQuestion<T> question) {
    try {
      Nftables open = nftables == null ? Nftables.open() : nftables;
      nftables = open;
      return new NatAnswer.Answered<>(question.ask(open));
    } catch (NetlinkUnavailable | AskFailed why) {
      return new NatAnswer.AnswerFailed<>(
          new Failure(
              "nf_tables does not say which chains the "
                  + family
                  + " nat table has: "
                  + why.getMessage(),
              "give the agent the capability NET_ADMIN, and see that the kernel has nf_tables"));
    }
  }

  private static <T> T given(ipmasq.netlink.Answer<T> answer) throws AskFailed {
    return switch (answer) {
      case ipmasq.netlink.Answer.Given<T>(var value) -> value;
      case ipmasq.netlink.Answer.Failed<T>(var why) -> throw new AskFailed(why);
    };
  }
}
