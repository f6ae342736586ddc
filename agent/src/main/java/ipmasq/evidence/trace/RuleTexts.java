package ipmasq.evidence.trace;

import ipmasq.iptables.Commands;
import ipmasq.iptables.Commands.CommandResult;
import ipmasq.net.ForeignText;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The text of a rule, from the tool that owns it: {@code iptables -S} for the tables of iptables,
 * otherwise {@code nft -a list chain}. Used by one thread.
 */
public final class RuleTexts {
  private static final Set<String> OF_IPTABLES =
      Set.of("raw", "mangle", "nat", "filter", "security");

  private final Commands commands;
  private final Map<List<String>, List<String>> known = new HashMap<>();

  public RuleTexts(Commands commands) {
    this.commands = commands;
  }

  ForeignText of(TableFamily family, String table, String chain, long handle, TraceTable kernel) {
    boolean iptables =
        family != TableFamily.INET && family != TableFamily.BRIDGE && OF_IPTABLES.contains(table);
    if (iptables) {
      String program = family == TableFamily.IP ? "iptables-nft" : "ip6tables-nft";
      List<String> listed =
          lines(List.of(program, "-w", "5", "-t", table, "-S", chain)).stream()
              .filter(line -> line.startsWith("-A "))
              .toList();
      List<Rule> rules = kernel.rules(new Chain(new Table(family, table), chain));
      for (int i = 0; i < rules.size() && rules.size() == listed.size(); i++) {
        if (rules.get(i).handle() == handle) {
          return ForeignText.shortened(listed.get(i));
        }
      }
    }
    String mark = "# handle " + handle;
    return lines(List.of("nft", "-a", "list", "chain", family.toString(), table, chain)).stream()
        .filter(line -> line.endsWith(mark))
        .findFirst()
        .map(line -> ForeignText.shortened(line.replace(mark, "").strip()))
        .orElseGet(() -> new ForeignText(""));
  }

  private List<String> lines(List<String> command) {
    return known.computeIfAbsent(
        command,
        _ -> {
          List<String> lines = new ArrayList<>();
          return commands.run(command, "", lines::add) instanceof CommandResult.Ended(var status, _)
                  && status == 0
              ? lines
              : List.of();
        });
  }
}
