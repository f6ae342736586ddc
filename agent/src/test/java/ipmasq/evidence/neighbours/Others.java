package ipmasq.evidence.neighbours;

import ipmasq.testkit.Namespace;
import java.util.List;
import java.util.stream.Stream;

/** Rules that other people write, and what is to be said of them. */
final class Others {
  private Others() {}

  /** Which program writes what others wrote. */
  enum Tool {
    NFT_IPTABLES,
    LEGACY_IPTABLES,
    NFT
  }

  /**
   * @param before rules that stand before ours, as the tool's own file
   * @param after rules that come after ours
   * @param conflicts what is to be found: {@code kind owner}, in order
   * @param pinned what is left of that where our rules pin
   * @param tellable whether it can be told from here what happens to a packet
   */
  record Case(
      String name,
      Tool tool,
      String before,
      String after,
      List<String> conflicts,
      List<String> pinned,
      boolean tellable) {
    Case untellable() {
      return new Case(name, tool, before, after, conflicts, pinned, false);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static Case iptables(String name, String before, String after, String... conflicts) {
    return new Case(name, Tool.NFT_IPTABLES, before, after, List.of(conflicts), List.of(), true);
  }

  static Case nft(String name, String rules, String... conflicts) {
    return new Case(name, Tool.NFT, rules, "", List.of(conflicts), List.of(), true);
  }

  static Stream<Case> cases() {
    return Stream.of(
            NeighbourCases.cases(), IpsetCases.cases(), IptablesCases.cases(), NftCases.cases())
        .flatMap(each -> each);
  }

  static void add(Namespace node, Tool tool, String rules) {
    if (rules.isEmpty()) {
      return;
    }
    IpsetCases.addSets(node, rules);
    switch (tool) {
      case NFT_IPTABLES -> restore(node, "iptables-nft-restore", rules);
      case LEGACY_IPTABLES -> restore(node, "iptables-legacy-restore", rules);
      case NFT -> node.feed(rules, "nft", "-f", "-").ok();
    }
  }

  private static void restore(Namespace node, String program, String rules) {
    node.feed("*nat\n" + rules + "COMMIT\n", program, "--noflush").ok();
  }
}
