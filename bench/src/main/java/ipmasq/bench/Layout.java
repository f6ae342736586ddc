package ipmasq.bench;

import ipmasq.backend.Backend;
import ipmasq.backend.iptables.IptablesBackend;
import ipmasq.backend.nftables.NftablesBackend;
import ipmasq.policy.Policy;
import ipmasq.sync.Enforcement;
import ipmasq.sync.SyncReport.Result;
import ipmasq.testkit.Namespace;
import java.util.Map;

/** A way to arrange the rules, and how to put it into a node. */
enum Layout {
  NONE("no rules", "#999999"),
  BARE_NFT("masquerade only, nft", "#777777"),
  BARE_IPTABLES("masquerade only, iptables-nft", "#b0a080"),
  UPSTREAM_NFT("upstream's rules, iptables-nft", "#c0392b"),
  UPSTREAM_LEGACY("upstream's rules, iptables-legacy", "#e67e22"),
  IPSET("iptables-nft with an ipset", "#8e44ad"),
  OURS_IPTABLES("ours, iptables", "#2980b9"),
  OURS_NFTABLES("ours, nftables", "#27ae60");

  /** The lock of iptables-legacy is the whole machine's; a lab has no need of it. */
  private static final Map<String, String> OWN_LOCK =
      Map.of("XTABLES_LOCKFILE", System.getProperty("java.io.tmpdir") + "/ipmq-bench.lock");

  final String words;
  final String colour;

  Layout(String words, String colour) {
    this.words = words;
    this.colour = colour;
  }

  /** Something to keep until the node is no longer needed. */
  interface Held extends AutoCloseable {
    @Override
    void close();
  }

  Held install(Namespace node, Ranges ranges) {
    switch (this) {
      case NONE -> {}
      case BARE_NFT ->
          Command.run(
                  node,
                  """
                  table ip bare {
                    chain postrouting {
                      type nat hook postrouting priority 105; masquerade fully-random
                    }
                  }
                  """,
                  "nft",
                  "-f",
                  "-")
              .ok();
      case BARE_IPTABLES ->
          Command.run(
                  node,
                  "*nat\n-A POSTROUTING -j MASQUERADE --random-fully\nCOMMIT\n",
                  "iptables-nft-restore",
                  "--noflush")
              .ok();
      case UPSTREAM_NFT -> loadUpstream(node, ranges, "nft").ok();
      case UPSTREAM_LEGACY -> loadUpstream(node, ranges, "legacy").ok();
      case IPSET -> ipset(node, ranges);
      case OURS_IPTABLES ->
          node.call(() -> enforce(IptablesBackend.ofNode("IP-MASQ-AGENT"), ranges.policy()));
      case OURS_NFTABLES -> {
        NftablesBackend table = NftablesBackend.owning();
        node.call(() -> enforce(table, ranges.policy()));
        return table::close;
      }
    }
    return () -> {};
  }

  /** What that costs, where the rules are upstream's. */
  static Command.Cost loadUpstream(Namespace node, Ranges ranges, String variant) {
    return Command.run(
        node, Upstream.rules(ranges), OWN_LOCK, "iptables-" + variant + "-restore", "--noflush");
  }

  private static void ipset(Namespace node, Ranges ranges) {
    StringBuilder set = new StringBuilder();
    set.append("create exempt hash:net maxelem ").append(ranges.count() + 1).append('\n');
    set.append("add exempt 169.254.0.0/16\n");
    for (int i = 0; i < ranges.count(); i++) {
      set.append("add exempt ").append(ranges.range(i)).append('\n');
    }
    Command.run(node, set.toString(), "ipset", "restore").ok();
    Command.run(node, Upstream.rulesWithSet("exempt"), "iptables-nft-restore", "--noflush").ok();
  }

  /** Observe, plan, apply. */
  static Result enforce(Backend backend, Policy policy) {
    Result result = new Enforcement(true).enforce(backend, policy);
    if (result instanceof Result.Failed(var failure, _)) {
      throw new IllegalStateException(failure.toString());
    }
    return result;
  }
}
