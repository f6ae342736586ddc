package ipmasq.backend.iptables;

import ipmasq.backend.Failure;
import ipmasq.backend.iptables.NatTable.NatAnswer;
import ipmasq.backend.iptables.NatTable.Use;
import ipmasq.iptables.Commands;
import ipmasq.iptables.Commands.CommandResult;
import ipmasq.iptables.Variant;
import ipmasq.net.Family;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Lists the chains that concern us, one by one: POSTROUTING, ours, and the targets of our jumps.
 * With 50,000 other rules iptables-nft-save takes seconds, this takes milliseconds.
 *
 * <p>Only existing chains are listed: for a missing one iptables 1.8.9 says that the table is
 * incompatible.
 */
record OwnChains(Commands commands, NatTable nft, Variant variant, ChainNames names) {
  /** The result. */
  sealed interface Listing {
    record OwnListing(SavedTable table) implements Listing {}

    record ListingFailed(Failure failure) implements Listing {}

    /** The output does not match the kernel, usually because the rules changed meanwhile. */
    record Differs(String chain, int listed, int held) implements Listing {}
  }

  Listing list(Family family) {
    SavedTable table = new SavedTable(names);
    table.accept("*nat");
    Map<String, Use> found = new LinkedHashMap<>();
    Deque<String> todo = new ArrayDeque<>(names.ours());
    Set<String> seen = new HashSet<>(todo);
    if (names.all() && seen.add(ChainNames.POSTROUTING)) {
      todo.add(ChainNames.POSTROUTING);
    }
    while (!todo.isEmpty()) {
      String chain = todo.poll();
      switch (nft.chain(family, chain)) {
        case NatAnswer.AnswerFailed<Optional<Use>>(var failure) -> {
          return new Listing.ListingFailed(failure);
        }
        case NatAnswer.Answered<Optional<Use>>(var use) when use.isPresent() -> {
          CommandResult result = list(family, chain, table);
          if (!(result instanceof CommandResult.Ended(var status, var _) && status == 0)) {
            return failed(family, chain, result);
          }
          found.put(chain, use.get());
          Set<String> more = table.find(chain).ourTargets();
          more.removeIf(target -> !seen.add(target));
          todo.addAll(more);
          // Our jump's target always exists: without the chain there can be no jump.
          if (seen.add(ChainNames.POSTROUTING)) {
            todo.add(ChainNames.POSTROUTING);
          }
        }
        case NatAnswer.Answered<Optional<Use>> _ -> {}
      }
    }
    table.accept("COMMIT");
    return checked(table, found);
  }

  /** Checks the output against the kernel's counts, to reject truncated output. */
  private static Listing checked(SavedTable table, Map<String, Use> found) {
    for (Map.Entry<String, Use> entry : found.entrySet()) {
      SavedTable.Chain listed = table.find(entry.getKey());
      if (table.unreadable().isEmpty() && listed.rules() != entry.getValue().rules()) {
        return new Listing.Differs(entry.getKey(), listed.rules(), entry.getValue().rules());
      }
      listed.noteJumps(entry.getValue().jumps());
    }
    return new Listing.OwnListing(table);
  }

  private CommandResult list(Family family, String chain, SavedTable table) {
    return commands.run(
        List.of(variant.program(family), "-t", "nat", "-v", "-S", chain),
        "",
        line -> table.accept(saved(line)));
  }

  private Listing failed(Family family, String chain, CommandResult result) {
    boolean gone =
        nft.chain(family, chain) instanceof NatAnswer.Answered<Optional<Use>>(var now)
            && now.isEmpty();
    return gone
        ? new Listing.Differs(chain, 0, 0)
        : new Listing.ListingFailed(FailureAdvice.of(variant.program(family), family, result));
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

  /** The end of the number that begins here, at a blank or the line's end; -1 if there is none. */
  private static int digitsEnd(String line, int from) {
    int at = from;
    while (at < line.length() && line.charAt(at) >= '0' && line.charAt(at) <= '9') {
      at++;
    }
    return at > from && (at == line.length() || line.charAt(at) == ' ') ? at : -1;
  }
}
