package ipmasq.backend.iptables;

import ipmasq.hook.Action;
import ipmasq.hook.BaseChain;
import ipmasq.hook.Rule;
import ipmasq.net.Family;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * POSTROUTING of the nat table and what it leads to, from what iptables-save prints, a line at a
 * time.
 *
 * <p>Most of a node's rules are kube-proxy's chains of services, which POSTROUTING never leads to:
 * they are thrown away unread.
 */
final class Postrouting {
  private static final List<String> OF_SERVICES =
      List.of("KUBE-SVC-", "KUBE-SEP-", "KUBE-SVL-", "KUBE-EXT-", "KUBE-FW-", "KUBE-XLB-");

  private final Family family;
  private final Names names;
  private final Map<String, List<String>> lines = new HashMap<>();
  private boolean inTable;

  Postrouting(Family family, Names names) {
    this.family = family;
    this.names = names;
  }

  void accept(String line) {
    if (line.startsWith("*")) {
      inTable = line.strip().equals("*nat");
    } else if (inTable && line.startsWith(":")) {
      int space = line.indexOf(' ');
      chain(line.substring(1, space < 0 ? line.length() : space));
    } else if (inTable && line.startsWith("-A ")) {
      int space = line.indexOf(' ', 3);
      if (space > 0) {
        chain(line.substring(3, space)).add(line);
      }
    }
  }

  private List<String> chain(String name) {
    for (String prefix : OF_SERVICES) {
      if (name.startsWith(prefix)) {
        return new ArrayList<>(0);
      }
    }
    return lines.computeIfAbsent(name, _ -> new ArrayList<>());
  }

  /** The base chain with those that it leads to; nothing of ours but the place of our jump. */
  BaseChain chain(String kind, Set<String> known) {
    Map<String, List<Rule>> chains = new HashMap<>();
    Deque<String> todo = new ArrayDeque<>(List.of(Names.POSTROUTING));
    Set<String> seen = new HashSet<>(todo);
    while (!todo.isEmpty()) {
      String name = todo.poll();
      List<String> texts = lines.get(name);
      if (texts == null) {
        continue;
      }
      List<Rule> rules = new ArrayList<>(texts.size());
      for (String text : texts) {
        Rule rule = HookRule.read(family, text, names, known);
        rules.add(rule);
        String target =
            switch (rule.action()) {
              case Action.Jump(var to) -> to;
              case Action.Goto(var to) -> to;
              default -> "";
            };
        if (!target.isEmpty() && seen.add(target)) {
          todo.add(target);
        }
      }
      chains.put(name, rules);
    }
    chains.putIfAbsent(Names.POSTROUTING, List.of());
    return new BaseChain(
        kind + " POSTROUTING", BaseChain.IPTABLES_PRIORITY, Names.POSTROUTING, chains);
  }

  /** Names that a rule can jump to. */
  Set<String> chains() {
    return lines.keySet();
  }
}
