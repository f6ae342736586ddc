package ipmasq.backend.iptables;

import ipmasq.backend.iptables.SavedTable.Chain;
import ipmasq.backend.iptables.SavedTable.Line;
import ipmasq.net.Family;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Rules in the nat table left by earlier versions or under an earlier chain name, and those of
 * another agent.
 *
 * <p>A chain is removed only if every rule in it has our comment and no rule that stays jumps to
 * it.
 *
 * @param jumps rules of POSTROUTING to delete
 * @param chains chains to delete
 * @param others chains with our comments and a name that we never had: another agent's, or ours
 *     from before a restart; they cannot be told apart
 */
record StaleRules(List<Line> jumps, List<String> chains, List<String> others) {
  static StaleRules in(SavedTable table, Family family, ChainNames names) {
    List<Line> jumps = new ArrayList<>();
    Set<String> others = new TreeSet<>();
    IptablesRule right = IptablesRule.jump(family, names.main());
    for (Line line : table.find(ChainNames.POSTROUTING).kept()) {
      String target = line.after("-j");
      boolean jump = RuleComments.jumps(line.after("--comment"));
      if (jump && table.find(target).isUserDefined() && !isRight(line, right)) {
        if (names.current(target) || names.stale(target)) {
          jumps.add(line);
        } else {
          others.add(target);
        }
      }
    }
    return new StaleRules(jumps, chains(table, names, jumps), List.copyOf(others));
  }

  static List<Line> rightJumps(SavedTable table, Family family, ChainNames names) {
    IptablesRule right = IptablesRule.jump(family, names.main());
    return table.find(ChainNames.POSTROUTING).kept().stream()
        .filter(line -> isRight(line, right))
        .toList();
  }

  private static boolean isRight(Line line, IptablesRule right) {
    return IptablesRule.read(right.source().family(), line.words())
        .filter(right::equals)
        .isPresent();
  }

  private static List<String> chains(SavedTable table, ChainNames names, List<Line> jumps) {
    Set<String> going = new HashSet<>();
    for (Map.Entry<String, Chain> entry : table.chains().entrySet()) {
      Chain chain = entry.getValue();
      // Without our comments, a chain is known only by its name.
      boolean known = !chain.kept().isEmpty() || names.former().contains(entry.getKey());
      if (chain.isUserDefined()
          && names.stale(entry.getKey())
          && known
          && !chain.hasForeignRules()
          && !chain.isUsedByOthers()) {
        going.add(entry.getKey());
      }
    }
    // A chain that stays keeps the chains that it jumps to, and so on.
    while (going.removeAll(usedByWhatStays(table, names, jumps, going))) {}
    return going.stream().sorted().toList();
  }

  private static Set<String> usedByWhatStays(
      SavedTable table, ChainNames names, List<Line> jumps, Set<String> going) {
    Set<String> used = new HashSet<>();
    for (Map.Entry<String, Chain> entry : table.chains().entrySet()) {
      if (!names.current(entry.getKey()) && !going.contains(entry.getKey())) {
        for (Line line : entry.getValue().kept()) {
          if (!jumps.contains(line)) {
            used.add(line.after("-j"));
            used.add(line.after("-g"));
          }
        }
      }
    }
    return used;
  }

  boolean isEmpty() {
    return jumps.isEmpty() && chains.isEmpty();
  }

  List<String> phrases(ChainNames names) {
    List<String> phrases = new ArrayList<>();
    for (Line jump : jumps) {
      String target = jump.after("-j");
      phrases.add(
          target.equals(names.main())
              ? "a jump from POSTROUTING worded by an older version"
              : "a jump from POSTROUTING to chain " + whose(target));
    }
    for (String chain : chains) {
      phrases.add("chain " + whose(chain));
    }
    return phrases;
  }

  private static String whose(String chain) {
    return switch (chain) {
      case "IP-MASQ" -> chain + " of the node's bootstrap";
      case "NON-MASQUERADE-DAEMON" -> chain + " of an older version";
      default -> chain + ", a former name of ours";
    };
  }

  /** Remarks about chains that stay. */
  List<String> remarks() {
    String remark =
        "chain %1$s is another ip-masq-agent's, or this one's under a former name, and acts on"
            + " packets too: if no other agent runs here, ip-masq-agent cleanup --masq-chain=%1$s"
            + " removes it";
    return others.stream().map(remark::formatted).toList();
  }
}
