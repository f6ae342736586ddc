package ipmasq.hook.iptables;

import ipmasq.hook.Action;
import ipmasq.hook.BaseChain;
import ipmasq.hook.EarlierMark;
import ipmasq.hook.HookPoint;
import ipmasq.hook.Rule;
import ipmasq.hook.ipset.ForeignIpsets;
import ipmasq.net.Family;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A built-in chain of a table and what it leads to, from the output of iptables-save, line by line.
 *
 * <p>Most of a node's rules are kube-proxy's chains of services: they are skipped unread, and a
 * jump to one counts as a change of destination.
 */
final class LegacyChains {
  private static final List<String> OF_SERVICES =
      List.of("KUBE-SVC-", "KUBE-SEP-", "KUBE-SVL-", "KUBE-EXT-", "KUBE-FW-", "KUBE-XLB-");
  private static final int MOST_RULES = 20_000;

  private final Family family;
  private final String table;
  private final HookPoint point;
  private final String entry;
  private final Optional<String> ourChain;
  private final boolean forMarks;
  private final ForeignIpsets ipsets;
  private final Map<String, List<String>> lines = new HashMap<>();
  private boolean inTable;
  private boolean whole;
  private boolean drops;
  private int rules;

  private LegacyChains(
      Family family,
      String table,
      HookPoint point,
      Optional<String> ourChain,
      boolean forMarks,
      ForeignIpsets ipsets) {
    this.family = family;
    this.table = table;
    this.point = point;
    this.entry = point.name();
    this.ourChain = ourChain;
    this.forMarks = forMarks;
    this.ipsets = ipsets;
  }

  static LegacyChains of(
      Family family,
      String table,
      HookPoint point,
      Optional<String> ourChain,
      ForeignIpsets ipsets) {
    return new LegacyChains(family, table, point, ourChain, false, ipsets);
  }

  /** To look for marks: kube-proxy's chains, which mark packets to services, are left out. */
  static LegacyChains forMarks(Family family, String table, HookPoint point) {
    return new LegacyChains(family, table, point, Optional.empty(), true, ForeignIpsets.unread());
  }

  void accept(String line) {
    if (line.startsWith("*")) {
      inTable = line.strip().equals("*" + table);
    } else if (inTable && line.strip().equals("COMMIT")) {
      whole = true;
    } else if (inTable && line.startsWith(":")) {
      int space = line.indexOf(' ');
      chain(line.substring(1, space < 0 ? line.length() : space));
      drops |= line.startsWith(":" + entry + " DROP");
    } else if (inTable && line.startsWith("-A ")) {
      int space = line.indexOf(' ', 3);
      String name = line.substring(3, space < 0 ? line.length() : space);
      if (!isOfService(name) && ++rules <= MOST_RULES) {
        chain(name).add(line);
      }
    }
  }

  private static boolean isOfService(String chain) {
    return OF_SERVICES.stream().anyMatch(chain::startsWith);
  }

  private List<String> chain(String name) {
    return isOfService(name)
        ? new ArrayList<>(0)
        : lines.computeIfAbsent(name, _ -> new ArrayList<>(2));
  }

  /** Whether all of the table was seen. */
  boolean isWhole() {
    return whole && rules <= MOST_RULES && lines.containsKey(entry);
  }

  BaseChain base(String name, int priority) {
    Map<String, List<Rule>> chains = new HashMap<>();
    Deque<String> todo = new ArrayDeque<>(List.of(entry));
    Set<String> seen = new HashSet<>(todo);
    while (!todo.isEmpty()) {
      String chain = todo.poll();
      List<Rule> read = new ArrayList<>();
      for (String text : lines.getOrDefault(chain, List.of())) {
        Rule rule = SavedRuleReader.read(family, text, this::target, ipsets);
        read.add(rule);
        rule.target().filter(seen::add).ifPresent(todo::add);
      }
      chains.put(chain, read);
    }
    return new BaseChain(name, point, priority, entry, drops, new BaseChain.ChainsRead(chains));
  }

  List<EarlierMark> marks(long asked) {
    return EarlierMark.in(base(table, 0), asked);
  }

  /** The action for a target that is a chain; empty if it is an extension. */
  private Optional<Action> target(String name, boolean noReturn) {
    if (ourChain.equals(Optional.of(name))) {
      return Optional.of(new Action.Ours());
    }
    if (forMarks && EarlierMark.isOfServices(name)) {
      return Optional.of(new Action.NoAction());
    }
    if (isOfService(name)) {
      return Optional.of(new Action.ChangeDestination(name));
    }
    return lines.containsKey(name)
        ? Optional.of(noReturn ? new Action.Goto(name) : new Action.Jump(name))
        : Optional.empty();
  }
}
