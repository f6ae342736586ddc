package ipmasq.backend.nftables;

import ipmasq.hook.Action;
import ipmasq.hook.BaseChain;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.netlink.Answer;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Hook;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.netlink.nftables.Nftables;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What nf_tables has at the nat postrouting hook, besides the tables of iptables-nft. Used by one
 * thread, which opens and closes a socket for each look.
 */
public final class ForeignChains {
  private static final int MOST_CHAINS = 500;
  private static final int MOST_ELEMENTS = 4096;
  private static final String OURS = "ours";

  private final Nftables nftables;
  private final Family family;
  private final Map<String, Optional<List<IpRange>>> sets = new HashMap<>();

  private ForeignChains(Nftables nftables, Family family) {
    this.nftables = nftables;
    this.family = family;
  }

  /** The base chains; none where the kernel does not answer. Ours are places, not rules. */
  public static List<BaseChain> at(Family family) {
    try (Nftables nftables = Nftables.open()) {
      return new ForeignChains(nftables, family).chains();
    } catch (NetlinkUnavailable unavailable) {
      return List.of();
    }
  }

  private List<BaseChain> chains() {
    if (!(nftables.chains() instanceof Answer.Given<List<Chain>>(var chains))) {
      return List.of();
    }
    List<BaseChain> found = new ArrayList<>();
    for (Chain chain : chains) {
      if (chain.base().isPresent()
          && chain.base().get().type().equals("nat")
          && chain.base().get().hook() == Hook.POSTROUTING
          && concerns(chain)) {
        int priority = chain.base().get().priority();
        if (chain.table().equals(Names.TABLE.name()) && chain.family() == TableFamily.INET) {
          ours(chain.name()).ifPresent(action -> found.add(ours(chain.name(), priority, action)));
        } else {
          read(chain, priority).ifPresent(found::add);
        }
      }
    }
    return found;
  }

  /** What one of our own chains does; nothing where it is the other family's. */
  private Optional<Action> ours(String chain) {
    return chain.equals(Names.chain(family).name())
        ? Optional.of(new Action.Ours())
        : chain.equals(Names.pin(family).name()) ? Optional.of(new Action.Pin()) : Optional.empty();
  }

  private boolean concerns(Chain chain) {
    return switch (chain.family()) {
      case INET -> true;
      case IP -> family == Family.IPV4;
      case IP6 -> family == Family.IPV6;
      case ARP, BRIDGE, NETDEV -> false;
    };
  }

  private static BaseChain ours(String chain, int priority, Action action) {
    return new BaseChain(
        "table inet " + Names.TABLE.name() + " chain " + chain,
        priority,
        OURS,
        Map.of(OURS, List.of(new ipmasq.hook.Rule(List.of(), action, "our own rules"))));
  }

  /** Nothing for a table of iptables-nft, whose rules iptables-save tells better. */
  private Optional<BaseChain> read(Chain base, int priority) {
    Map<String, List<ipmasq.hook.Rule>> chains = new HashMap<>();
    Deque<String> todo = new ArrayDeque<>(List.of(base.name()));
    while (!todo.isEmpty() && chains.size() < MOST_CHAINS) {
      String name = todo.poll();
      if (chains.containsKey(name)) {
        continue;
      }
      Chain chain = new Chain(base.family(), base.table(), name, Optional.empty(), "", 0);
      if (!(nftables.rules(chain) instanceof Answer.Given<List<Rule>>(var rules))) {
        continue;
      }
      List<ipmasq.hook.Rule> read = new ArrayList<>();
      for (Rule rule : rules) {
        if (ForeignRule.isOfIptables(rule)) {
          return Optional.empty();
        }
        ForeignRule.read(rule, family, set -> elements(base, set))
            .ifPresent(
                one -> {
                  read.add(one);
                  switch (one.action()) {
                    case Action.Jump(var to) -> todo.add(to);
                    case Action.Goto(var to) -> todo.add(to);
                    default -> {}
                  }
                });
      }
      chains.put(name, read);
    }
    return Optional.of(
        new BaseChain(
            "table " + base.family() + " " + base.table() + " chain " + base.name(),
            priority,
            base.name(),
            chains));
  }

  /** The addresses in a set; nothing where they are not addresses, or too many. */
  private Optional<List<IpRange>> elements(Chain base, String name) {
    String key = base.family() + " " + base.table() + " " + name;
    Optional<List<IpRange>> known = sets.get(key);
    if (known == null) {
      known = load(base, name);
      sets.put(key, known);
    }
    return known;
  }

  private Optional<List<IpRange>> load(Chain base, String name) {
    Table table = new Table(base.family(), base.table());
    if (!(nftables.sets(table) instanceof Answer.Given<List<NftSet>>(var all))) {
      return Optional.empty();
    }
    for (NftSet set : all) {
      if (set.name().equals(name) && set.key().length() == family.bytes()) {
        List<IpRange> ranges = new ArrayList<>();
        boolean whole =
            (set.flags().contains(NftSet.Flag.INTERVAL)
                    ? nftables.ranges(
                        set,
                        (first, last) ->
                            ranges.add(new IpRange(Ip.ofBytes(first), Ip.ofBytes(last))))
                    : nftables.elements(
                        set,
                        (element, end, counter) ->
                            ranges.add(new IpRange(Ip.ofBytes(element), Ip.ofBytes(element)))))
                .isEmpty();
        return whole && ranges.size() <= MOST_ELEMENTS
            ? Optional.of(List.copyOf(ranges))
            : Optional.empty();
      }
    }
    return Optional.empty();
  }
}
