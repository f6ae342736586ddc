package ipmasq.backend.iptables;

import ipmasq.backend.iptables.Commands.Result;
import ipmasq.net.Family;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A look at our chains and POSTROUTING alone. Where others have tens of thousands of rules,
 * iptables-nft-save takes a second for all of them, and this some milliseconds.
 *
 * <p>It only ever says that all is well. Whatever is not is left to the look at the whole table,
 * which also sees counters and chains that nobody jumps to.
 */
record Glance(Commands commands, Variant variant, Names names) {
  /** From how many rules of others on two small processes are cheaper than a large one. */
  static final int CROWD = 1000;

  /** What was found, where it reads as a policy without any flaw. */
  Optional<Found> at(Family family, boolean exceptions) {
    SavedTable table = new SavedTable(names);
    table.accept("*nat");
    List<String> chains = new ArrayList<>(List.of(Names.POSTROUTING, names.main()));
    if (exceptions) {
      chains.add(names.out());
    }
    String program = Variant.program(family, variant.infix());
    for (String chain : chains) {
      Result result =
          commands.run(
              List.of(program, "-t", "nat", "-S", chain), "", line -> table.accept(saved(line)));
      if (!(result instanceof Result.Ended(var status, var _) && status == 0)) {
        return Optional.empty();
      }
    }
    table.accept("COMMIT");
    if (table.unreadable().isPresent() || table.find(Names.POSTROUTING).kept().size() != 1) {
      return Optional.empty();
    }
    Found found = Found.in(table, family, names).glanced();
    return found.flaws().isEmpty() && found.policy().isPresent()
        ? Optional.of(found)
        : Optional.empty();
  }

  /** A chain as iptables-save would declare it. */
  private static String saved(String line) {
    if (line.startsWith("-N ")) {
      return ":" + line.substring(3) + " - [0:0]";
    }
    return line.startsWith("-P ") ? ":" + line.substring(3) + " [0:0]" : line;
  }
}
