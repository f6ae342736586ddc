package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Rule.Place;
import ipmasq.evidence.neighbours.Rule.Stage;
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
  private static final List<String> LEGACY = List.of("raw", "mangle", "nat", "filter");

  private final Programs programs = Programs.ofEnvironment();
  private final LegacyTables tables = LegacyTables.ofKernel();
  private final Commands commands = new ChildProcesses(programs, DEADLINE);

  /** The rules of a chain of iptables-nft, {@code -A CHAIN …}; none if it cannot be printed. */
  List<String> nft(Family family, String table, String chain) {
    Optional<String> program = program(family, Variant.Kind.NFT, "");
    List<String> lines = new ArrayList<>();
    if (program.isPresent()) {
      List<String> command = List.of(program.get(), "-t", table, "-S", chain);
      boolean printed =
          run(
              command,
              line -> {
                if (line.startsWith("-A ")) {
                  lines.add(line);
                }
              });
      return printed ? lines : List.of();
    }
    return lines;
  }

  /** The tables of iptables-legacy; without any, no program is run, which would make them. */
  List<Saved> legacy(Family family) {
    List<Saved> all = new ArrayList<>();
    for (String table : LEGACY) {
      Presence presence = tables.look(family, table);
      if (presence != Presence.NOT_THERE) {
        Saved saved = new Saved(table);
        Optional<String> program = program(family, Variant.Kind.LEGACY, "-save");
        if (presence == Presence.THERE && program.isPresent()) {
          saved.whole =
              run(List.of(program.get(), "-t", table), saved::accept)
                  && saved.ended
                  && saved.rules <= MOST_RULES;
        }
        all.add(saved);
      }
    }
    return all;
  }

  /** Whether there are rules that change without a generation of nf_tables. */
  boolean hasLegacy(Family family) {
    return LEGACY.stream().anyMatch(table -> tables.look(family, table) != Presence.NOT_THERE);
  }

  private boolean run(List<String> command, Consumer<String> lines) {
    return commands.run(command, "", lines) instanceof CommandResult.Ended(var status, var _)
        && status == 0;
  }

  /** The program with the explicit name, else one whose links lead to it. */
  private Optional<String> program(Family family, Variant.Kind kind, String suffix) {
    String infix = kind == Variant.Kind.NFT ? "-nft" : "-legacy";
    String named = Variant.program(family, infix) + suffix;
    String plain = Variant.program(family, "") + suffix;
    if (programs.find(named).isPresent()) {
      return Optional.of(named);
    }
    return programs.kind(plain) == kind ? Optional.of(plain) : Optional.empty();
  }

  /** A built-in chain. */
  record BuiltIn(Place place, String entry, boolean drops, boolean readable) {}

  /** A table, from the output of iptables-save, line by line. */
  static final class Saved {
    private final String name;
    private final Map<String, List<String>> lines = new HashMap<>();
    private final Set<String> chains = new HashSet<>();
    private final Set<String> dropping = new HashSet<>();
    private boolean ended;
    private boolean whole;
    private int rules;

    private Saved(String name) {
      this.name = name;
    }

    private void accept(String line) {
      if (line.strip().equals("COMMIT")) {
        ended = true;
      } else if (line.startsWith(":")) {
        String[] words = line.substring(1).split(" ", 3);
        chains.add(words[0]);
        lines.computeIfAbsent(words[0], _ -> new ArrayList<>(2));
        if (words.length > 1 && words[1].equals("DROP")) {
          dropping.add(words[0]);
        }
      } else if (line.startsWith("-A ")) {
        int space = line.indexOf(' ', 3);
        String chain = line.substring(3, space < 0 ? line.length() : space);
        boolean ofOneService =
            HooksReader.Services.FOLLOWED.jump(Stage.PREROUTING, chain).isPresent();
        if (!ofOneService && ++rules <= MOST_RULES) { // most of a node's rules are of services
          lines.computeIfAbsent(chain, _ -> new ArrayList<>(2)).add(line);
        }
      }
    }

    String name() {
      return name;
    }

    Map<String, List<String>> lines() {
      return lines;
    }

    boolean isChain(String word) {
      return chains.contains(word);
    }

    /** The built-in chains that packets pass on their way out. */
    List<BuiltIn> chains(Family family) {
      List<BuiltIn> all = new ArrayList<>();
      for (Stage stage : Stage.values()) {
        if (name.equals("raw") && stage == Stage.POSTROUTING) {
          continue;
        }
        boolean nat = name.equals("nat");
        int priority =
            switch (name) {
              case "raw" -> -300;
              case "mangle" -> -150;
              case "filter" -> 0;
              default ->
                  stage == Stage.POSTROUTING ? Place.NF_IP_PRI_NAT_SRC : Place.NF_IP_PRI_NAT_DST;
            };
        String text = "iptables-legacy " + (nat ? "" : name + " ") + stage;
        Place place = new Place(text, stage, nat, priority);
        all.add(new BuiltIn(place, stage.name(), dropping.contains(stage.name()), whole));
      }
      return all;
    }
  }
}
