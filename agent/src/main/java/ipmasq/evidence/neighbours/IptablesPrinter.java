package ipmasq.evidence.neighbours;

import ipmasq.iptables.ChildProcesses;
import ipmasq.iptables.Commands;
import ipmasq.iptables.Commands.CommandResult;
import ipmasq.iptables.LegacyTables;
import ipmasq.iptables.LegacyTables.Presence;
import ipmasq.iptables.Programs;
import ipmasq.iptables.Variant;
import ipmasq.net.Family;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Has iptables print rules. Used by one thread.
 *
 * <p>Of iptables-nft one chain at a time, because it then reads only that: 3 ms beside 50,000 rules
 * of kube-proxy, where the whole table takes 800. iptables-legacy reads the whole table in any
 * case, so it prints it once: 130 ms there.
 */
final class IptablesPrinter {
  private static final Duration DEADLINE = Duration.ofSeconds(10);
  private static final int MOST_RULES = 10_000;
  private static final int MOST_LINES = 100_000; // with those of chains

  private final Programs programs = Programs.ofEnvironment();
  private final LegacyTables tables = LegacyTables.ofKernel();
  private final Commands commands = new ChildProcesses(programs, DEADLINE);

  /** The rules of a chain of iptables-nft, {@code -A CHAIN …}; none if it cannot be printed. */
  List<String> nft(Family family, String table, String chain) {
    List<String> lines = new ArrayList<>();
    boolean printed =
        programs
            .iptables(family, Variant.Kind.NFT, "")
            .filter(
                program ->
                    run(
                        List.of(program, "-t", table, "-S", chain),
                        line -> {
                          if (line.startsWith("-A ")) {
                            lines.add(line);
                          }
                        }))
            .isPresent();
    return printed ? lines : List.of();
  }

  /**
   * A table of iptables-legacy.
   *
   * @param lines by chain; those of single services of kube-proxy, most of a node's, are left out
   * @param dropping built-in chains whose policy is to drop
   */
  record Legacy(Map<String, List<String>> lines, Set<String> dropping) {}

  /** Whether there is such a table; without one, no program is run, which would make it. */
  boolean hasLegacy(Family family, String table) {
    return tables.look(family, table) != Presence.NOT_THERE;
  }

  /** A table of iptables-legacy; empty if it cannot be listed. */
  Optional<Legacy> legacy(Family family, String table) {
    List<String> all = new ArrayList<>();
    return programs
        .iptables(family, Variant.Kind.LEGACY, "-save")
        .filter(_ -> tables.look(family, table) == Presence.THERE)
        .filter(program -> run(List.of(program, "-t", table), line -> add(all, line)))
        .filter(_ -> all.contains("COMMIT") && all.size() <= MOST_LINES)
        .filter(_ -> all.stream().filter(it -> it.startsWith("-A ")).count() <= MOST_RULES)
        .map(_ -> legacy(all));
  }

  private static void add(List<String> all, String line) {
    boolean ofOneService =
        line.startsWith("-A ") && HooksReader.isOfOneService(line.substring("-A ".length()));
    if (!ofOneService && all.size() <= MOST_LINES) {
      all.add(line.strip());
    }
  }

  private static Legacy legacy(List<String> all) {
    Legacy legacy = new Legacy(new HashMap<>(), new HashSet<>());
    for (String line : all) {
      String[] words = line.split(" ", 3);
      if (line.startsWith(":")) {
        legacy.lines.putIfAbsent(words[0].substring(1), new ArrayList<>(2));
        if (words[1].equals("DROP")) {
          legacy.dropping.add(words[0].substring(1));
        }
      } else if (line.startsWith("-A ")) {
        legacy.lines.computeIfAbsent(words[1], _ -> new ArrayList<>(2)).add(line);
      }
    }
    return legacy;
  }

  private boolean run(List<String> command, Consumer<String> lines) {
    return commands.run(command, "", lines) instanceof CommandResult.Ended(var status, var _)
        && status == 0;
  }
}
