package ipmasq.hook.iptables;

import ipmasq.hook.Action;
import ipmasq.hook.AddressRanges;
import ipmasq.hook.Condition;
import ipmasq.hook.Rule;
import ipmasq.hook.ipset.ForeignIpsets;
import ipmasq.hook.ipset.MatchSet;
import ipmasq.iptables.ShellWords;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import ipmasq.net.Protocols;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads any program's rule as iptables-save prints it: its conditions and its action. */
final class SavedRuleReader {
  private static final Set<String> SAYS_NOTHING =
      Set.of(
          "comment",
          "tcp",
          "udp",
          "sctp",
          "icmp",
          "icmp6",
          "multiport",
          "mark",
          "addrtype",
          "conntrack",
          "state",
          "iprange");
  private static final int LONGEST_TEXT = 300;

  /** The action for a target that is a chain; empty if it is an extension. */
  @FunctionalInterface
  interface JumpTargets {
    Optional<Action> target(String name, boolean noReturn);
  }

  private final Family family;
  private final List<String> words;
  private final ForeignIpsets ipsets;
  private final List<Condition> conditions = new ArrayList<>();
  private int at;
  private boolean negated;
  private String module = "";
  private Optional<Action> action = Optional.empty();

  private SavedRuleReader(Family family, List<String> words, ForeignIpsets ipsets) {
    this.family = family;
    this.words = words;
    this.ipsets = ipsets;
  }

  /**
   * @param line {@code -A CHAIN …}
   */
  static Rule read(Family family, String line, JumpTargets chains, ForeignIpsets ipsets) {
    List<String> words = ShellWords.of(line);
    String text = line.length() > LONGEST_TEXT ? line.substring(0, LONGEST_TEXT) + "…" : line;
    if (words.size() < 2) {
      return new Rule(List.of(), new Action.UnknownAction(text), text);
    }
    SavedRuleReader rule = new SavedRuleReader(family, words.subList(2, words.size()), ipsets);
    rule.read(chains);
    return new Rule(rule.conditions, rule.action.orElse(new Action.NoAction()), text);
  }

  private void read(JumpTargets chains) {
    while (at < words.size()) {
      String word = next();
      switch (word) {
        case "!" -> negated = true;
        case "-s" -> block(true);
        case "-d" -> block(false);
        case "-o" -> add(new Condition.Out(List.of(next())));
        case "-i" -> add(new Condition.In(List.of(next())));
        case "-p" -> protocol(next());
        case "--comment" -> next();
        case "--mark" -> mark(next());
        case "--dport", "--dports" -> ports(word, next());
        case "--sport", "--sports" -> add(new Condition.SourcePort(next()));
        case "--dst-type" -> add(local(next(), new Condition.LocalDestination(), "--dst-type "));
        case "--src-type" -> add(local(next(), new Condition.LocalSource(), "--src-type "));
        case "--limit-iface-in", "--limit-iface-out" -> limitToInterface(word);
        case "--ctstate", "--state" -> state(next());
        case "--src-range" -> range(next(), true);
        case "--dst-range" -> range(next(), false);
        case "--match-set" -> matchSet();
        case "-m" -> module(next());
        case "-j" -> {
          action = Optional.of(target(next(), chains, false));
          return; // the target's own options follow
        }
        case "-g" -> {
          action = Optional.of(target(next(), chains, true));
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

  private void protocol(String text) {
    String name = Protocols.canonical(text);
    add(
        Protocols.isKnown(name)
            ? new Condition.Protocol(name)
            : new Condition.UnknownCondition("-p " + text));
  }

  /** The first packet of a connection is new, and nothing else. */
  private void state(String text) {
    boolean isNew = List.of(text.split(",")).contains("NEW");
    conditions.add(isNew != negated ? Condition.AnyOf.ALWAYS : Condition.AnyOf.NEVER);
    negated = false;
  }

  private void range(String text, boolean source) {
    Optional<IpRange> range = IpRange.parse(text);
    add(
        range.isEmpty()
            ? new Condition.UnknownCondition("--range " + text)
            : source
                ? new Condition.Source(AddressRanges.of(range.get()))
                : new Condition.Destination(AddressRanges.of(range.get())));
  }

  /** Options that follow in the same match ask for more than the set. */
  private void matchSet() {
    String name = next();
    List<String> directions = List.of(next().split(","));
    MatchSet match = new MatchSet(name, directions, negated, !nextIsOption());
    conditions.add(ipsets.meaning(match, family));
    negated = false;
  }

  private void block(boolean source) {
    String text = next();
    Optional<Cidr> block =
        Cidr.parse(text) instanceof Cidr.ParsedCidr.Block(var cidr)
            ? Optional.of(cidr)
            : Ip.parse(text).map(ip -> new Cidr(ip, family.bits()));
    if (block.isEmpty()) {
      add(new Condition.UnknownCondition((source ? "-s " : "-d ") + text)); // a mask with holes
    } else {
      add(source ? Condition.source(block.get()) : Condition.destination(block.get()));
    }
  }

  private void module(String name) {
    module = name;
    if (!SAYS_NOTHING.contains(name) && !nextIsOption()) {
      add(new Condition.UnknownCondition("-m " + name));
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
    if (!module.equals("mark")) {
      add(new Condition.UnknownCondition("-m " + module + " --mark " + text)); // the connection's
      return;
    }
    int slash = text.indexOf('/');
    try {
      long value = Long.decode(slash < 0 ? text : text.substring(0, slash));
      long mask = slash < 0 ? 0xffff_ffffL : Long.decode(text.substring(slash + 1));
      add(new Condition.Mark(value, mask));
    } catch (NumberFormatException odd) {
      add(new Condition.UnknownCondition("--mark " + text));
    }
  }

  /** An address of the interface alone is less than one of the node. */
  private void limitToInterface(String option) {
    conditions.removeIf(
        c ->
            c instanceof Condition.LocalSource
                || c instanceof Condition.LocalDestination
                || c instanceof Condition.Not(Condition.LocalSource _)
                || c instanceof Condition.Not(Condition.LocalDestination _));
    add(new Condition.UnknownCondition("-m addrtype " + option));
  }

  private static Condition local(String type, Condition local, String option) {
    return type.equals("LOCAL") ? local : new Condition.UnknownCondition(option + type);
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
      add(new Condition.UnknownCondition(option + " " + text));
    }
  }

  /** An option and its values, up to the next option. */
  private void unknown(String option) {
    StringBuilder text = new StringBuilder(option);
    while (at < words.size() && !words.get(at).startsWith("-") && !words.get(at).equals("!")) {
      text.append(' ').append(next());
    }
    add(new Condition.UnknownCondition(text.toString()));
  }

  private Action target(String name, JumpTargets chains, boolean noReturn) {
    Optional<Action> chain = chains.target(name, noReturn);
    if (chain.isPresent()) {
      return chain.get();
    }
    return switch (name) {
      case "MASQUERADE" -> new Action.Translate(name);
      case "SNAT" -> snat();
      case "DNAT", "REDIRECT" -> new Action.ChangeDestination(name);
      case "RETURN" -> new Action.Return();
      case "ACCEPT" -> new Action.Accept();
      case "DROP" -> new Action.Drop();
      case "MARK" -> setMark();
      case "CONNMARK" ->
          words.contains("--restore-mark")
              ? Action.SetMark.unknown(nfmask())
              : new Action.NoAction();
      case "NOTRACK" -> new Action.Untrack();
      case "CT" -> words.contains("--notrack") ? new Action.Untrack() : new Action.NoAction();
      case "LOG", "NFLOG", "TRACE", "CLASSIFY" -> new Action.NoAction();
      case "SET" -> fillSet();
      default -> new Action.UnknownAction("-j " + name);
    };
  }

  /** The packet goes on; a set may give it a mark. */
  private Action fillSet() {
    for (int i = at; i + 1 < words.size(); i++) {
      if (words.get(i).equals("--add-set") || words.get(i).equals("--del-set")) {
        ipsets.fill(words.get(i + 1));
      }
    }
    return words.contains("--map-mark") ? Action.SetMark.UNKNOWN : new Action.NoAction();
  }

  /** {@code --to-source 192.0.2.1-192.0.2.9:1024-2000}; IPv6 in brackets if ports follow. */
  private Action snat() {
    int option = words.indexOf("--to-source");
    String text = option < 0 || option + 1 >= words.size() ? "" : words.get(option + 1);
    int colon = family == Family.IPV4 ? text.indexOf(':') : text.indexOf("]:");
    String addresses = colon < 0 ? text : text.substring(0, colon);
    if (text.matches(":[0-9-]+")) {
      return new Action.Keep(); // it gets another port at most
    }
    Optional<IpRange> to = IpRange.parse(addresses.replace("[", "").replace("]", ""));
    return to.isPresent() && words.lastIndexOf("--to-source") == option
        ? new Action.Translate("SNAT", to)
        : new Action.UnknownAction("-j SNAT");
  }

  /** The bits that restoring a mark may change. */
  private long nfmask() {
    int option = words.indexOf("--nfmask");
    int mask = option < 0 ? words.indexOf("--mask") : option;
    try {
      return mask < 0 || mask + 1 >= words.size() ? 0xffff_ffffL : Long.decode(words.get(mask + 1));
    } catch (NumberFormatException odd) {
      return 0xffff_ffffL;
    }
  }

  /** {@code --set-xmark value/mask}: clears the mask's bits, then flips the value's. */
  private Action setMark() {
    int option = words.indexOf("--set-xmark");
    String text = option < 0 || option + 1 >= words.size() ? "" : words.get(option + 1);
    int slash = text.indexOf('/');
    try {
      long value = Long.decode(slash < 0 ? text : text.substring(0, slash));
      long mask = slash < 0 ? 0xffff_ffffL : Long.decode(text.substring(slash + 1));
      return new Action.SetMark(~mask & 0xffff_ffffL, value);
    } catch (NumberFormatException odd) {
      return Action.SetMark.UNKNOWN;
    }
  }
}
