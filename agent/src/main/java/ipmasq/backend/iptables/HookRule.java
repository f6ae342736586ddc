package ipmasq.backend.iptables;

import ipmasq.hook.Action;
import ipmasq.hook.Condition;
import ipmasq.hook.Rule;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.PortRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads anybody's rule as iptables-save prints it: what it asks and what it does. */
final class HookRule {
  private static final Set<String> SAYS_NOTHING =
      Set.of("comment", "tcp", "udp", "sctp", "icmp", "multiport", "mark", "addrtype");

  private final Family family;
  private final List<String> words;
  private final List<Condition> conditions = new ArrayList<>();
  private int at;
  private boolean negated;
  private Optional<Action> action = Optional.empty();

  private HookRule(Family family, List<String> words) {
    this.family = family;
    this.words = words;
  }

  /**
   * @param line {@code -A CHAIN …}
   * @param known the chains of the table: a target of another name is an extension
   */
  static Rule read(Family family, String line, Names names, Set<String> known) {
    List<String> words = Words.of(line);
    if (words.size() < 2) {
      return new Rule(List.of(), new Action.Unknown(line), line);
    }
    HookRule rule = new HookRule(family, words.subList(2, words.size()));
    rule.read(names, known);
    return new Rule(
        rule.conditions, rule.action.orElse(new Action.Nothing()), SavedTable.shortened(line));
  }

  private void read(Names names, Set<String> known) {
    while (at < words.size()) {
      String word = next();
      switch (word) {
        case "!" -> negated = true;
        case "-s" -> block(true);
        case "-d" -> block(false);
        case "-o" -> add(new Condition.Out(List.of(next())));
        case "-p" -> add(new Condition.Protocol(next()));
        case "--comment" -> next();
        case "--mark" -> mark(next());
        case "--dport", "--dports" -> ports(word, next());
        case "--dst-type" -> destinationType(next());
        case "-m" -> module(next());
        case "-j" -> {
          action = Optional.of(target(next(), names, known, false));
          return; // what follows are the target's own options
        }
        case "-g" -> {
          action = Optional.of(target(next(), names, known, true));
          return;
        }
        default -> unknown(word);
      }
    }
  }

  private String next() {
    return at < words.size() ? words.get(at++) : "";
  }

  private void add(Condition condition) {
    conditions.add(condition.negatedIf(negated));
    negated = false;
  }

  private void block(boolean source) {
    String text = next();
    Optional<Cidr> block =
        Cidr.parse(text) instanceof Cidr.Parsed.Block(var cidr)
            ? Optional.of(cidr)
            : Ip.parse(text).map(ip -> new Cidr(ip, family.bits()));
    if (block.isEmpty()) {
      add(new Condition.Unknown((source ? "-s " : "-d ") + text)); // a mask with holes
    } else {
      add(source ? Condition.source(block.get()) : Condition.destination(block.get()));
    }
  }

  private void module(String name) {
    if (!SAYS_NOTHING.contains(name) && !nextIsOption()) {
      add(new Condition.Unknown("-m " + name));
    }
  }

  /** A module whose options follow is judged by them. */
  private boolean nextIsOption() {
    return at < words.size()
        && (words.get(at).startsWith("--")
            || words.get(at).equals("!")
                && at + 1 < words.size()
                && words.get(at + 1).startsWith("--"));
  }

  private void mark(String text) {
    int slash = text.indexOf('/');
    try {
      long value = Long.decode(slash < 0 ? text : text.substring(0, slash));
      long mask = slash < 0 ? 0xffff_ffffL : Long.decode(text.substring(slash + 1));
      add(new Condition.Mark(value, mask));
    } catch (NumberFormatException odd) {
      add(new Condition.Unknown("--mark " + text));
    }
  }

  private void destinationType(String type) {
    add(
        type.equals("LOCAL")
            ? new Condition.LocalDestination()
            : new Condition.Unknown("--dst-type " + type));
  }

  private void ports(String option, String text) {
    List<PortRange> ranges = new ArrayList<>();
    try {
      for (String part : text.split(",")) {
        int colon = part.indexOf(':');
        int first = Integer.parseInt(colon < 0 ? part : part.substring(0, colon));
        int last = colon < 0 ? first : Integer.parseInt(part.substring(colon + 1));
        ranges.add(new PortRange(Math.max(1, first), last));
      }
      add(new Condition.Port(ranges));
    } catch (IllegalArgumentException odd) {
      add(new Condition.Unknown(option + " " + text));
    }
  }

  /** An option and its values, up to the next option. */
  private void unknown(String option) {
    StringBuilder text = new StringBuilder(option);
    while (at < words.size() && !words.get(at).startsWith("-") && !words.get(at).equals("!")) {
      text.append(' ').append(next());
    }
    add(new Condition.Unknown(text.toString()));
  }

  private Action target(String name, Names names, Set<String> known, boolean noReturn) {
    if (name.equals(names.main())) {
      return new Action.Ours();
    }
    if (known.contains(name)) {
      return noReturn ? new Action.Goto(name) : new Action.Jump(name);
    }
    return switch (name) {
      case "MASQUERADE", "SNAT", "NETMAP" -> new Action.Translate(name);
      case "RETURN" -> new Action.Return();
      case "ACCEPT" -> new Action.Accept();
      case "DROP" -> new Action.Drop();
      case "MARK", "CONNMARK" -> new Action.SetMark();
      case "LOG", "NFLOG", "TRACE", "CLASSIFY" -> new Action.Nothing();
      default -> new Action.Unknown("-j " + name);
    };
  }
}
