package ipmasq.evidence.trace;

import ipmasq.iptables.ChildProcesses;
import ipmasq.iptables.Commands;
import ipmasq.iptables.Commands.CommandResult;
import ipmasq.iptables.Programs;
import ipmasq.iptables.Variant;
import ipmasq.net.Family;
import ipmasq.net.ForeignText;
import ipmasq.netlink.nftables.TableFamily;
import ipmasq.netlink.nftables.Trace;
import java.time.Duration;
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

  private final Programs programs;
  private final Commands commands;
  private final Map<List<String>, List<String>> known = new HashMap<>();

  public RuleTexts(Programs programs, Duration deadline) {
    this.programs = programs;
    this.commands = new ChildProcesses(programs, deadline);
  }

  /** Empty at the end of a chain, or if no such tool is installed. */
  ForeignText of(Trace step, TraceTable kernel) {
    if (step.rule() == 0) {
      return new ForeignText("");
    }
    if (step.family() != TableFamily.INET && OF_IPTABLES.contains(step.table())) {
      Family family = step.family() == TableFamily.IP ? Family.IPV4 : Family.IPV6;
      List<String> listed =
          programs.iptables(family, Variant.Kind.NFT, "").stream()
              .map(it -> List.of(it, "-w", "5", "-t", step.table(), "-S", step.chain()))
              .flatMap(command -> lines(command).stream())
              .filter(line -> line.startsWith("-A "))
              .toList();
      List<Long> handles = kernel.handles(step);
      int at = handles.indexOf(step.rule());
      if (at >= 0 && handles.size() == listed.size()) {
        return ForeignText.shortened(listed.get(at));
      }
    }
    String mark = "# handle " + step.rule();
    String family = step.family().toString();
    return lines(List.of("nft", "-a", "list", "chain", family, step.table(), step.chain())).stream()
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
