package ipmasq.bench;

import ipmasq.netlink.nftables.KeyType;
import ipmasq.netlink.nftables.NftSet;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;
import ipmasq.testkit.KubeProxyRules;
import ipmasq.testkit.Namespace;

/** What others have put on a node before an agent comes. */
enum Beside {
  NOTHING("alone"),
  SOME_RULES("5,000 rules"),
  RULES("50,000 rules"),
  SET("a set of 1,500,000");

  private static final int ELEMENTS = 1_500_000;
  private static final NftSet MANY =
      NftSet.keys(new Table(TableFamily.IP, "neighbour"), "many", KeyType.IPV4_ADDR);

  private final String words;

  Beside(String words) {
    this.words = words;
  }

  String words() {
    return words;
  }

  /** Makes such a node. */
  Namespace open() {
    Namespace node = Namespace.open("node");
    switch (this) {
      case NOTHING -> {}
      case SOME_RULES -> restore(node, KubeProxyRules.nat(500));
      case RULES -> restore(node, KubeProxyRules.nat(5_000));
      case SET -> {
        Command.run(
                node,
                """
                table ip neighbour {
                  set many { type ipv4_addr; size 2000000; }
                  chain post { type nat hook postrouting priority 90; ip daddr @many masquerade; }
                }
                """,
                "nft",
                "-f",
                "-")
            .ok();
        try (KernelView kernel = new KernelView(node)) {
          kernel.fill(MANY, ELEMENTS);
        }
      }
    }
    return node;
  }

  static void restore(Namespace node, String rules) {
    Command.run(node, rules, "iptables-nft-restore", "--noflush").ok();
  }
}
