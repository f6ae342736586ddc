package ipmasq.backend.iptables;

import ipmasq.iptables.Listing;
import ipmasq.net.ForeignText;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The nat table as iptables-save prints it, or chains of it as {@code iptables -v -S} does, read
 * line by line.
 *
 * <p>A node has tens of thousands of other programs' rules: of these only their chain and jump
 * target are kept. Rules in our chains and rules with our comments are kept whole.
 */
final class SavedTable {
  /** {@code iptables -v -S} prints counters before the target. */
  private static final Pattern COUNTED =
      Pattern.compile("(.*) -c (\\d+) (\\d+)( -[jg] .*)?", Pattern.DOTALL);

  /**
   * A rule.
   *
   * @param counters {@code [packets:bytes]}, or empty if they were not printed
   * @param text what follows {@code -A CHAIN}, as it was printed, without counters
   */
  record Line(String chain, String counters, String text) {
    List<String> words() {
      return Listing.words(text);
    }

    /** The word after an option, or empty. */
    String after(String option) {
      List<String> words = words();
      int at = words.indexOf(option);
      return at >= 0 && at + 1 < words.size() ? words.get(at + 1) : "";
    }

    boolean isOurs() {
      return RuleComments.maybeOurs(text) && RuleComments.ours(after("--comment"));
    }

    @Override
    public String toString() {
      return "-A " + chain + " " + text;
    }
  }

  /** A chain and what was kept of it; it may be known only as a jump target. */
  static final class Chain {
    private final List<Line> kept = new ArrayList<>(0);
    private boolean userDefined;
    private int rules;
    private int foreign;
    private int ourJumps;
    private boolean wanted;

    /** Whether it is there, and not one that the kernel made. */
    boolean isUserDefined() {
      return userDefined;
    }

    List<Line> kept() {
      return kept;
    }

    int rules() {
      return rules;
    }

    /** The kernel knows how many rules lead here in all. */
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
  private boolean afterForeignRule;
  private boolean committed;
  private boolean anything;

  SavedTable(ChainNames names) {
    this.names = names;
  }

  /** Takes the next line; a malformed line is recorded, not thrown. */
  void accept(String line) {
    if (line.isBlank()) {
      return;
    }
    anything = true;
    if (line.startsWith("#")) {
      if (line.contains("is incompatible")) {
        complain(line.substring(1).strip());
      }
      header = SaveHeader.parse(line).orElse(header);
    } else if (line.startsWith("*")) {
      inTable = line.strip().equals("*nat");
    } else if (line.strip().equals("COMMIT")) {
      committed |= inTable;
      inTable = false;
    } else if (!inTable) {
      complain("a line outside of the table: " + line);
    } else if (!declaration(line) && !rule(line)) {
      // An interface's name is printed as it is, even with a line end in it.
      if (!afterForeignRule) {
        complain("a line that makes no sense: " + line);
      }
      noteTargets(line, 0);
    }
  }

  private void complain(String what) {
    problem = problem.isEmpty() ? ForeignText.shortened(what).text() : problem;
  }

  /** {@code :CHAIN POLICY [packets:bytes]}, {@code -N CHAIN}, {@code -P CHAIN POLICY}. */
  private boolean declaration(String line) {
    int from = line.startsWith(":") ? 1 : line.startsWith("-N ") || line.startsWith("-P ") ? 3 : 0;
    int space = line.indexOf(' ', from);
    int to = space < 0 ? line.length() : space;
    if (from == 0 || to == from) {
      return false;
    }
    chain(line.substring(from, to)).userDefined =
        line.startsWith("-N ") || from == 1 && line.startsWith("-", to + 1);
    afterForeignRule = false;
    return true;
  }

  /** {@code [packets:bytes] -A CHAIN …}, the counters only if they were asked for. */
  private boolean rule(String line) {
    int at = line.startsWith("[") ? line.indexOf("] ") + 2 : 0;
    if (at == 1 || !line.startsWith("-A ", at)) {
      return false;
    }
    int space = line.indexOf(' ', at + 3);
    int to = space < 0 ? line.length() : space;
    String name = line.substring(at + 3, to);
    Chain chain = chain(name);
    chain.rules++;
    afterForeignRule = true;
    if (names.current(name) || RuleComments.maybeOurs(line)) {
      String text = line.substring(Math.min(to + 1, line.length()));
      Line kept = at == 0 ? counted(name, text) : new Line(name, line.substring(0, at - 1), text);
      afterForeignRule = !kept.isOurs();
      if (names.current(name) || kept.isOurs()) {
        chain.kept.add(kept);
      }
      if (kept.isOurs()) {
        chain(kept.after("-j")).ourJumps++;
      }
    }
    if (afterForeignRule) {
      chain.foreign++;
      noteTargets(line, to);
    }
    return true;
  }

  private static Line counted(String chain, String text) {
    Matcher found = COUNTED.matcher(text);
    if (!text.contains(" -c ") || !found.matches()) {
      return new Line(chain, "", text);
    }
    String counters = "[" + found.group(2) + ":" + found.group(3) + "]";
    String target = found.group(4);
    return new Line(chain, counters, found.group(1) + (target == null ? "" : target));
  }

  /** Text in a comment counts too: better to keep a chain too many than to delete one in use. */
  private void noteTargets(String line, int from) {
    for (String option : List.of(" -j ", " -g ")) {
      for (int at = line.indexOf(option, from); at >= 0; at = line.indexOf(option, at + 1)) {
        int start = at + option.length();
        int space = line.indexOf(' ', start);
        chain(line.substring(start, space < 0 ? line.length() : space)).wanted = true;
      }
    }
  }

  private Chain chain(String name) {
    return chains.computeIfAbsent(name, _ -> new Chain());
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
    return chains.getOrDefault(name, new Chain());
  }
}
