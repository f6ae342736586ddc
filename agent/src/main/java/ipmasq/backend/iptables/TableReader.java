package ipmasq.backend.iptables;

import ipmasq.backend.Failure;
import ipmasq.backend.iptables.NatTable.NatChain;
import ipmasq.iptables.Commands;
import ipmasq.iptables.Commands.CommandResult;
import ipmasq.net.Family;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads the nat table by the programs of iptables. */
record TableReader(Commands commands, NatTable nft, ChainNames names) {
  /** How often to list again if chains change meanwhile. */
  private static final int ATTEMPTS = 3;

  /** What was read. */
  sealed interface Read {
    record Table(SavedTable table) implements Read {}

    /**
     * It could not be.
     *
     * @param changed whether the output does not match the kernel, usually because the rules
     *     changed meanwhile
     */
    record Failed(Failure failure, boolean changed) implements Read {}
  }

  /** The whole table, by iptables-save; legacy cannot print less. */
  Read whole(String program, Family family) {
    SavedTable table = new SavedTable(names);
    CommandResult result = commands.run(List.of(program, "-c", "-t", "nat"), "", table::accept);
    return succeeded(result)
        ? readable(program, family, table)
        : new Read.Failed(FailureAdvice.of(program, family, result), false);
  }

  /**
   * The chains that concern us, one by one: POSTROUTING, ours, and the targets of our jumps. With
   * 50,000 other rules iptables-nft-save takes seconds, this takes milliseconds.
   *
   * <p>Only existing chains are listed: for a missing one iptables 1.8.9 says that the table is
   * incompatible.
   */
  Read ownChains(String program, Family family) {
    Read read = listing(program, family);
    for (int i = 1;
        i < ATTEMPTS && read instanceof Read.Failed(var _, var changed) && changed;
        i++) {
      read = listing(program, family);
    }
    return read;
  }

  private Read listing(String program, Family family) {
    SavedTable table = new SavedTable(names);
    table.accept("*nat");
    Map<String, NatChain.There> found = new LinkedHashMap<>();
    Deque<String> todo = new ArrayDeque<>(names.ours());
    Set<String> seen = new HashSet<>(todo);
    if (names.all() && seen.add(ChainNames.POSTROUTING)) {
      todo.add(ChainNames.POSTROUTING);
    }
    while (!todo.isEmpty()) {
      String chain = todo.poll();
      switch (nft.chain(family, chain)) {
        case NatChain.Missing _ -> {}
        case NatChain.Unknown(var failure) -> {
          return new Read.Failed(failure, false);
        }
        case NatChain.There there -> {
          CommandResult result =
              commands.run(List.of(program, "-t", "nat", "-v", "-S", chain), "", table::accept);
          if (!succeeded(result)) {
            return failed(program, family, chain, result);
          }
          found.put(chain, there);
          // Our jump's target always exists: without the chain there can be no jump.
          if (seen.add(ChainNames.POSTROUTING)) {
            todo.add(ChainNames.POSTROUTING);
          }
          for (SavedTable.Line line : table.find(chain).kept()) {
            if (line.isOurs() && seen.add(line.after("-j"))) {
              todo.add(line.after("-j"));
            }
          }
        }
      }
    }
    table.accept("COMMIT");
    return checked(program, family, table, found);
  }

  /** Checks the output against the kernel's counts, to reject truncated output. */
  private static Read checked(
      String program, Family family, SavedTable table, Map<String, NatChain.There> found) {
    for (Map.Entry<String, NatChain.There> entry : found.entrySet()) {
      SavedTable.Chain listed = table.find(entry.getKey());
      int held = entry.getValue().rules();
      if (table.unreadable().isEmpty() && listed.rules() != held) {
        return changed(program, entry.getKey(), listed.rules(), held);
      }
      listed.noteJumps(entry.getValue().jumps());
    }
    return readable(program, family, table);
  }

  private static Read changed(String program, String chain, int listed, int held) {
    String difference =
        listed + " rules of chain " + chain + " were printed, and the kernel has " + held;
    return new Read.Failed(
        new Failure(
            "what " + program + " printed cannot be used: " + difference,
            "tried again shortly; find out who keeps rewriting the nat table"),
        true);
  }

  private Read failed(String program, Family family, String chain, CommandResult result) {
    return nft.chain(family, chain) instanceof NatChain.Missing
        ? changed(program, chain, 0, 0)
        : new Read.Failed(FailureAdvice.of(program, family, result), false);
  }

  private static boolean succeeded(CommandResult result) {
    return result instanceof CommandResult.Ended(var status, var _) && status == 0;
  }

  private static Read readable(String program, Family family, SavedTable table) {
    return table
        .unreadable()
        .<Read>map(why -> new Read.Failed(FailureAdvice.unreadable(program, family, why), false))
        .orElse(new Read.Table(table));
  }
}
