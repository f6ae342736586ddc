package ipmasq.backend.iptables;

import ipmasq.iptables.ShellWords;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The nat table as iptables-save prints it, read line by line.
 *
 * <p>A node has tens of thousands of other programs' rules: of these only their chain and jump
 * target are kept. Rules in our chains and rules with our comments are kept whole.
 */
final class SavedTable {
  private static final int QUOTED_FOR_PEOPLE = 120;

  /**
   * A rule.
   *
   * @param counters {@code [packets:bytes]}, or empty if they were not printed
   * @param text what follows {@code -A CHAIN}, as it was printed
   */
  record SavedLine(String chain, String counters, String text) {
    List<String> words() {
      return ShellWords.of(text);
    }

    /** The chain or the verdict that it jumps to. */
    Optional<String> target() {
      List<String> words = words();
      int jump = words.indexOf("-j");
      return jump >= 0 && jump + 1 < words.size()
          ? Optional.of(words.get(jump + 1))
          : Optional.empty();
    }

    @Override
    public String toString() {
      return "-A " + chain + " " + text;
    }
  }

  /** A chain and what was kept of it; it may be known only as a jump target. */
  static final class Chain {
    static final Chain MISSING = new Chain();

    private final List<SavedLine> kept = new ArrayList<>(0);
    private boolean users;
    private int rules;
    private int foreign;
    private int ourJumps;
    private boolean wanted;

    /** Whether it is there, and not one that the kernel made. */
    boolean isUserDefined() {
      return users;
    }

    List<SavedLine> kept() {
      return kept;
    }

    /** The jump targets of our rules in it. */
    Set<String> ourTargets() {
      Set<String> targets = new HashSet<>();
      for (SavedLine line : kept) {
        if (bearsOurComment(line.words())) {
          line.target().ifPresent(targets::add);
        }
      }
      return targets;
    }

    int rules() {
      return rules;
    }

    /** Where only some chains were listed, the kernel knows how many rules lead here in all. */
    void noteJumps(int all) {
      wanted |= all > ourJumps;
    }

    /** Whether it holds a rule without our comment. */
    boolean hasForeignRules() {
      return foreign > 0;
    }

    /** Whether a rule without our comment jumps here. */
    boolean wantedByOthers() {
      return wanted;
    }
  }

  private final ChainNames names;
  private final Map<String, Chain> chains = new HashMap<>();
  private SaveHeader header = SaveHeader.NONE;
  private String problem = "";
  private boolean inTable;
  private boolean committed;
  private boolean anything;

  SavedTable(ChainNames names) {
    this.names = names;
  }

  /** Takes the next line; a malformed line is recorded, not thrown. */
  void accept(String line) {
    anything |= !line.isBlank();
    if (line.startsWith("#")) {
      comment(line);
    } else if (line.startsWith("*")) {
      inTable = line.strip().equals("*nat");
    } else if (line.strip().equals("COMMIT")) {
      committed |= inTable;
      inTable = false;
    } else if (inTable && !line.isBlank() && !declaration(line) && !rule(line)) {
      complain("a line that makes no sense: " + shortened(line));
    } else if (!inTable && !line.isBlank()) {
      complain("a line outside of the table: " + shortened(line));
    }
  }

  private void comment(String line) {
    if (line.contains("is incompatible")) {
      complain(line.substring(1).strip());
    }
    header = SaveHeader.parse(line).orElse(header);
  }

  private void complain(String what) {
    problem = problem.isEmpty() ? what : problem;
  }

  /** {@code :CHAIN POLICY [packets:bytes]}. */
  private boolean declaration(String line) {
    int space = line.indexOf(' ');
    if (!line.startsWith(":") || space < 2) {
      return false;
    }
    chain(line.substring(1, space)).users = line.startsWith("-", space + 1);
    return true;
  }

  /** {@code [packets:bytes] -A CHAIN …}, the counters only if they were asked for. */
  private boolean rule(String line) {
    int at = line.startsWith("[") ? line.indexOf("] ") + 2 : 0;
    if (at == 1 || !line.startsWith("-A ", at)) {
      return false;
    }
    int nameFrom = at + 3;
    int space = line.indexOf(' ', nameFrom);
    int nameTo = space < 0 ? line.length() : space;
    String name = line.substring(nameFrom, nameTo);
    if (name.isEmpty()) {
      return false;
    }
    Chain chain = chain(name);
    chain.rules++;
    boolean own = name.equals(names.main()) || name.equals(names.out());
    boolean ours =
        RuleComments.maybeOurs(line) && bearsOurComment(ShellWords.of(line.substring(nameTo)));
    if (own || ours) {
      String text = line.substring(Math.min(nameTo + 1, line.length()));
      chain.kept.add(new SavedLine(name, at == 0 ? "" : line.substring(0, at - 1), text));
    }
    if (ours) {
      chain.kept.getLast().target().ifPresent(target -> chain(target).ourJumps++);
    } else {
      chain.foreign++;
      noteTargets(line, " -j ", nameTo);
      noteTargets(line, " -g ", nameTo);
    }
    return true;
  }

  private static boolean bearsOurComment(List<String> words) {
    int option = words.indexOf("--comment");
    return option >= 0 && option + 1 < words.size() && RuleComments.ours(words.get(option + 1));
  }

  /** Text in a comment counts too: better to keep a chain too many than to delete one in use. */
  private void noteTargets(String line, String option, int from) {
    for (int at = line.indexOf(option, from); at >= 0; at = line.indexOf(option, at + 1)) {
      int start = at + option.length();
      int space = line.indexOf(' ', start);
      chain(line.substring(start, space < 0 ? line.length() : space)).wanted = true;
    }
  }

  private Chain chain(String name) {
    Chain chain = chains.get(name);
    if (chain == null) {
      chain = new Chain();
      chains.put(name, chain);
    }
    return chain;
  }

  /**
   * Why the text cannot be trusted; empty if it can. No text at all means that there is no table.
   */
  Optional<String> unreadable() {
    if (!problem.isEmpty()) {
      return Optional.of(problem);
    }
    return anything && !committed ? Optional.of("it ends before COMMIT") : Optional.empty();
  }

  SaveHeader header() {
    return header;
  }

  Map<String, Chain> chains() {
    return chains;
  }

  Chain find(String name) {
    Chain chain = chains.get(name);
    return chain == null ? Chain.MISSING : chain;
  }

  static String shortened(String line) {
    return line.length() <= QUOTED_FOR_PEOPLE ? line : line.substring(0, QUOTED_FOR_PEOPLE) + "…";
  }
}
