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
 * which also sees chains that nobody jumps to.
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
              List.of(program, "-t", "nat", "-v", "-S", chain),
              "",
              line -> table.accept(saved(line)));
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
    return line.startsWith("-P ") ? ":" + line.substring(3) + " [0:0]" : counted(line);
  }

  /** {@code -A X … -c 5 300 -j RETURN} becomes {@code [5:300] -A X … -j RETURN}. */
  private static String counted(String line) {
    int at = line.lastIndexOf(" -c ");
    int packetsEnd = at < 0 ? -1 : digitsEnd(line, at + 4);
    int bytesEnd = packetsEnd < 0 ? -1 : digitsEnd(line, packetsEnd + 1);
    if (bytesEnd < 0) {
      return line;
    }
    String packets = line.substring(at + 4, packetsEnd);
    String bytes = line.substring(packetsEnd + 1, bytesEnd);
    return "[" + packets + ":" + bytes + "] " + line.substring(0, at) + line.substring(bytesEnd);
  }

  /** Where the number that begins here ends, at a blank or the line's end; -1: there is none. */
  private static int digitsEnd(String line, int from) {
    int at = from;
    while (at < line.length() && line.charAt(at) >= '0' && line.charAt(at) <= '9') {
      at++;
    }
    return at > from && (at == line.length() || line.charAt(at) == ' ') ? at : -1;
  }
}
