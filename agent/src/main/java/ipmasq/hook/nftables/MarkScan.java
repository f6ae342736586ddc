package ipmasq.hook.nftables;

import ipmasq.hook.Action;
import ipmasq.net.Family;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Hook;
import ipmasq.netlink.nftables.Nftables.Head;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.TableFamily;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Which bits of a packet's mark may have been set before the nat postrouting hook. kube-proxy's own
 * chains are left out: they mark packets to services. Used by one thread.
 */
public final class MarkScan {
  private static final long ALL = 0xffff_ffffL;
  private static final int MOST_CHAINS = 1000;
  private static final int MOST_RULES = 20_000;

  private final RulesetReader kernel = new RulesetReader();
  private final Family family;
  private int chainsLeft = MOST_CHAINS;
  private int rulesLeft = MOST_RULES;
  private long bits;

  private MarkScan(Family family) {
    this.family = family;
  }

  /** The bits; all of them if unknown. */
  public static long bits(BaseChains bases, Family family) {
    MarkScan scan = new MarkScan(family);
    try (RulesetReader kernel = scan.kernel) {
      Optional<BaseChains.BaseListing> all = bases.list(kernel);
      if (all.isEmpty()) {
        return ALL;
      }
      for (Chain chain : all.get().chains()) {
        if (scan.isBefore(chain)) {
          scan.follow(chain);
        }
      }
      return scan.bits;
    }
  }

  /** Whether forwarded packets pass it before nat postrouting, and it is not kube-proxy's. */
  private boolean isBefore(Chain chain) {
    Hook hook = chain.base().map(Chain.BaseHook::hook).orElse(Hook.INPUT);
    boolean passed = hook == Hook.PREROUTING || hook == Hook.FORWARD || hook == Hook.POSTROUTING;
    boolean natAfter = hook == Hook.POSTROUTING && chain.base().orElseThrow().type().equals("nat");
    return passed && !natAfter && !chain.table().equals("kube-proxy") && concerns(chain);
  }

  private boolean concerns(Chain chain) {
    return chain.family() == TableFamily.INET
        || chain.family() == (family == Family.IPV4 ? TableFamily.IP : TableFamily.IP6);
  }

  private void follow(Chain base) {
    Set<String> seen = new HashSet<>();
    List<String> todo = new ArrayList<>(List.of(base.name()));
    while (!todo.isEmpty() && bits != ALL) {
      String name = todo.removeLast();
      if (name.startsWith("KUBE-") || !seen.add(name)) {
        continue;
      }
      Chain chain = new Chain(base.family(), base.table(), name, Optional.empty(), "", 0);
      Optional<Head<Rule>> head =
          --chainsLeft < 0
              ? Optional.empty()
              : kernel.head(nftables -> nftables.rules(chain, rulesLeft));
      if (head.isEmpty() || !head.get().whole()) {
        bits = ALL;
        return;
      }
      rulesLeft -= head.get().list().size();
      for (Rule rule : head.get().list()) {
        // The content of its sets does not matter here, only the rule's action.
        for (ipmasq.hook.Rule each :
            ForeignRule.read(rule, family, _ -> new ForeignSets.Elements.Unreadable(), false)) {
          mark(each.action());
          each.target().ifPresent(todo::add);
          if (each.action() instanceof Action.UnknownAction(var text) && text.startsWith("vmap")) {
            bits = ALL;
          }
        }
      }
    }
  }

  private void mark(Action action) {
    switch (action) {
      case Action.SetMark set -> bits |= of(set);
      case Action.MarkAnd(var set, var _) -> bits |= of(set);
      default -> {}
    }
  }

  private static long of(Action.SetMark set) {
    return set.known() ? set.xor() : ALL;
  }
}
