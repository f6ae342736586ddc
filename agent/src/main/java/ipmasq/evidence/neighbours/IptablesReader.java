package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Packets.Field;
import ipmasq.iptables.Listing;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.Protocols;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** Reads any program's rules as iptables prints them, of either kind. Used for one reading. */
final class IptablesReader {
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

  /** What is no unicast address, whatever the node's networks. */
  private static final Ranges NOT_UNICAST =
      Ranges.of(
          List.of(Cidr.of("0.0.0.0/8"), Cidr.of("224.0.0.0/4"), Cidr.of("255.255.255.255/32")));

  private final Kernel kernel;
  private final Family family;
  private final Set<String> filled = new HashSet<>();
  private final Map<List<String>, Step.Test> ipsets = new HashMap<>();

  IptablesReader(Kernel kernel, Family family) {
    this.kernel = kernel;
    this.family = family;
  }

  /** Whether a rule asked for an ipset, whose content changes without a trace in the rules. */
  boolean readIpsets() {
    return !ipsets.isEmpty();
  }

  /** Notes the ipsets that rules fill as packets pass; to be called for all rules first. */
  void fill(String line) {
    if (line.contains(" --add-set ") || line.contains(" --del-set ")) {
      List<String> words = Listing.words(line);
      for (int i = 0; i + 1 < words.size(); i++) {
        if (words.get(i).equals("--add-set") || words.get(i).equals("--del-set")) {
          filled.add(words.get(i + 1));
        }
      }
    }
  }

  /**
   * @param line {@code -A CHAIN …}
   * @param chains what a jump to a chain does; empty if there is no such chain
   */
  Rule read(String line, Function<String, Optional<Step>> chains) {
    List<String> words = Listing.words(line);
    if (words.size() < 2) {
      return new Rule(
          List.of(new Step.Unknown("a line that is not a rule", Step.Effect.PATH)), line);
    }
    return new Rule(new Line(words.subList(2, words.size()), chains).read(), line);
  }

  /** The words of one rule. */
  private final class Line {
    private final List<String> words;
    private final Function<String, Optional<Step>> chains;
    private final List<Step> steps = new ArrayList<>();
    private int at;
    private boolean negated;
    private String module = "";

    Line(List<String> words, Function<String, Optional<Step>> chains) {
      this.words = words;
      this.chains = chains;
    }

    List<Step> read() {
      while (at < words.size()) {
        String word = next();
        switch (word) {
          case "!" -> negated = true;
          case "-s" -> add(block(next(), Field.SOURCE));
          case "-d" -> add(block(next(), Field.DESTINATION));
          case "-o" -> add(new Step.Link(true, List.of(next()), false));
          case "-i" -> add(new Step.Link(false, List.of(next()), false));
          case "-p" -> add(protocol(next()));
          case "-f" -> add(new Step.Tracked(false, "-f")); // tracking joins fragments
          case "--comment" -> next();
          case "--mark" -> add(mark(next()));
          case "--dport", "--dports" -> add(ports(next(), Field.PORT));
          case "--sport", "--sports" -> add(ports(next(), Field.SOURCE_PORT));
          case "--dst-type" -> add(type(next(), false));
          case "--src-type" -> add(type(next(), true));
          case "--limit-iface-in", "--limit-iface-out" -> {
            steps.removeIf(Step.Local.class::isInstance); // less than any address of the node
            add(new Step.Unjudged("-m addrtype " + word));
          }
          case "--ctstate", "--state" ->
              add(new Step.Tracked(List.of(next().split(",", -1)).contains("NEW"), word));
          case "--src-range" -> add(range(next(), Field.SOURCE));
          case "--dst-range" -> add(range(next(), Field.DESTINATION));
          case "--match-set" -> add(matchSet());
          case "-m" -> module(next());
          case "-j" -> {
            target(next(), false); // the target's own options follow
            return steps;
          }
          case "-g" -> {
            target(next(), true);
            return steps;
          }
          default -> unjudged(word);
        }
      }
      return steps;
    }

    private String next() {
      return at < words.size() ? words.get(at++) : "";
    }

    private void add(Step.Test test) {
      steps.add(negated ? Step.not(test) : test);
      negated = false;
    }

    private Step.Test protocol(String text) {
      String name = Protocols.canonical(text);
      if (!Protocols.isKnown(name)) {
        return new Step.Unjudged("-p " + text);
      }
      int number = Protocols.number(name);
      return new Step.Is(Field.PROTOCOL, Ranges.of(number, number), false);
    }

    private Step.Test block(String text, Field field) {
      Optional<Cidr> block =
          Cidr.parse(text) instanceof Cidr.Parsed.Block(var cidr)
              ? Optional.of(cidr)
              : Ip.parse(text).map(ip -> new Cidr(ip, family.bits()));
      return block.isEmpty()
          ? new Step.Unjudged(text) // a mask with holes
          : new Step.Is(field, Ranges.of(List.of(block.get())), false);
    }

    private Step.Test range(String text, Field field) {
      return IpRange.parse(text)
          .<Step.Test>map(range -> new Step.Is(field, Ranges.of(range), false))
          .orElse(new Step.Unjudged("--range " + text));
    }

    private Step.Test ports(String text, Field field) {
      List<Ranges.Range> ranges = new ArrayList<>();
      try {
        for (String part : text.split(",", -1)) {
          int colon = part.indexOf(':');
          int first = Integer.parseInt(colon < 0 ? part : part.substring(0, colon));
          int last = colon < 0 ? first : Integer.parseInt(part.substring(colon + 1));
          ranges.addAll(Ranges.of(first, last).list());
        }
      } catch (NumberFormatException odd) {
        return new Step.Unjudged("ports " + text);
      }
      return new Step.Is(field, Ranges.union(ranges), false);
    }

    private Step.Test mark(String text) {
      long[] value = masked(text);
      return module.equals("mark") && value.length == 2
          ? new Step.Marked(value[0], value[1], false)
          : new Step.Unjudged("-m " + module + " --mark " + text); // the connection's
    }

    private Step.Test type(String type, boolean source) {
      if (type.equals("LOCAL")) {
        return new Step.Local(source, false);
      }
      return type.equals("UNICAST") && !source && family == Family.IPV4
          ? new Step.Is(Field.DESTINATION, NOT_UNICAST, true)
          : new Step.Unjudged("addrtype " + type);
    }

    /** Options that follow in the same match ask for more than the set. */
    private Step.Test matchSet() {
      String name = next();
      String directions = next();
      if (nextIsOption() || filled.contains(name)) {
        return new Step.Unjudged("-m set --match-set " + name);
      }
      return ipsets.computeIfAbsent(
          List.of(name, directions),
          _ -> Ipset.in(kernel, name, List.of(directions.split(",", -1)), family));
    }

    private void module(String name) {
      module = name;
      if (!SAYS_NOTHING.contains(name) && !nextIsOption()) {
        add(new Step.Unjudged("-m " + name));
      }
    }

    /** A module whose options follow is judged by them. */
    private boolean nextIsOption() {
      int from = at < words.size() && words.get(at).equals("!") ? at + 1 : at;
      return from < words.size() && words.get(from).startsWith("--");
    }

    /** An option and its values, up to the next option. */
    private void unjudged(String option) {
      while (at < words.size() && !words.get(at).startsWith("-") && !words.get(at).equals("!")) {
        next();
      }
      add(new Step.Unjudged(option));
    }

    private void target(String name, boolean noReturn) {
      Optional<Step> chain = chains.apply(name);
      if (chain.isPresent()) {
        steps.add(
            noReturn && chain.get() instanceof Step.Jump(var to) ? new Step.Goto(to) : chain.get());
        return;
      }
      switch (name) {
        case "MASQUERADE" -> steps.add(new Step.Translate(true, Optional.empty()));
        case "SNAT" -> steps.add(snat(option("--to-source")));
        case "DNAT", "REDIRECT" -> steps.add(new Step.Redirect());
        case "RETURN" -> steps.add(new Step.Return());
        case "ACCEPT" -> steps.add(new Step.Accept());
        case "DROP" -> steps.add(new Step.Drop());
        case "MARK" -> steps.add(setMark());
        case "CONNMARK" -> restoreMark();
        case "NOTRACK" -> steps.add(new Step.Untrack());
        case "CT" -> {
          if (words.contains("--notrack")) {
            steps.add(new Step.Untrack());
          }
        }
        case "SET" -> {
          if (words.contains("--map-mark")) {
            steps.add(Step.SetMark.ANY);
          }
        }
        default -> {
          if (!NftReader.HARMLESS.contains(name)) {
            steps.add(new Step.Unknown("-j " + name, NftReader.effect(name)));
          }
        }
      }
    }

    private String option(String name) {
      int option = words.indexOf(name);
      return option < 0 || option + 1 >= words.size() ? "" : words.get(option + 1);
    }

    /** {@code --to-source 192.0.2.1-192.0.2.9:1024-2000}; IPv6 in brackets if ports follow. */
    private Step snat(String text) {
      int colon = family == Family.IPV4 ? text.indexOf(':') : text.indexOf("]:");
      if (text.matches(":[0-9-]+")) {
        return new Step.Keep(); // it gets another port at most
      }
      String addresses = (colon < 0 ? text : text.substring(0, colon)).replaceAll("[\\[\\]]", "");
      Optional<IpRange> to = IpRange.parse(addresses);
      boolean once = words.indexOf("--to-source") == words.lastIndexOf("--to-source");
      return to.isPresent() && once
          ? new Step.Translate(false, to)
          : new Step.Unknown("-j SNAT", Step.Effect.ADDRESSES);
    }

    /** {@code --set-xmark value/mask}: clears the mask's bits, then flips the value's. */
    private Step setMark() {
      long[] value = masked(option("--set-xmark"));
      return value.length == 2
          ? new Step.SetMark(~value[1] & 0xffff_ffffL, value[0], 0)
          : Step.SetMark.ANY;
    }

    /** Restoring changes only the bits of its mask; other modes change the connection's mark. */
    private void restoreMark() {
      if (words.contains("--restore-mark")) {
        long[] mask = masked(option("--nfmask"));
        steps.add(mask.length == 2 ? Step.SetMark.unknown(mask[0]) : Step.SetMark.ANY);
      }
    }
  }

  /** {@code value/mask}, or a value for all bits; empty if it is neither. */
  private static long[] masked(String text) {
    int slash = text.indexOf('/');
    try {
      return new long[] {
        Long.decode(slash < 0 ? text : text.substring(0, slash)),
        slash < 0 ? 0xffff_ffffL : Long.decode(text.substring(slash + 1))
      };
    } catch (NumberFormatException odd) {
      return new long[0];
    }
  }
}
