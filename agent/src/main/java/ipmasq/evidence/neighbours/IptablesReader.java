package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Cell.Field;
import ipmasq.evidence.neighbours.Rule.Jumps;
import ipmasq.evidence.neighbours.Rule.Place;
import ipmasq.evidence.neighbours.Step.Test;
import ipmasq.iptables.Listing;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.Protocols;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** Reads any program's rules as iptables prints them, of either kind. Used for one reading. */
final class IptablesReader {
  /** Matches that ask nothing but what their options say. */
  private static final Set<String> SAYS_NOTHING =
      Set.of(
          "comment tcp udp sctp icmp icmp6 multiport mark addrtype conntrack state iprange"
              .split(" "));

  /** Targets that change nothing that matters here. */
  private static final Set<String> HARMLESS =
      Set.of(
          ("LOG NFLOG TRACE CLASSIFY TCPMSS DSCP TOS TTL HL CHECKSUM AUDIT IDLETIMER TCPOPTSTRIP"
                  + " CONNSECMARK SECMARK RATEEST TEE ECN")
              .split(" "));

  /** Targets that change addresses, or whether they can change, wherever they stand. */
  private static final Set<String> REWRITING =
      Set.of("SNPT", "DNPT", "NETMAP", "SNAT", "CT", "NOTRACK");

  /** What is no unicast address, whatever the node's networks. */
  private static final Test NOT_UNICAST =
      Test.of(
          Field.DESTINATION,
          NodeLinks.of(
              List.of(Cidr.of("0.0.0.0/8"), Cidr.of("224.0.0.0/4"), Cidr.of("255.255.255.255/32")),
              Family.IPV4));

  private final Kernel kernel;
  private final Family family;
  private final Links links;
  private final Set<String> filled;
  private final Map<String, Test> ipsets = new HashMap<>();

  /**
   * @param filled names of ipsets that rules fill as packets pass; those that it meets are added
   */
  IptablesReader(Kernel kernel, Family family, Links links, Set<String> filled) {
    this.filled = filled;
    this.kernel = kernel;
    this.family = family;
    this.links = links;
  }

  /** Whether a rule asked for an ipset. */
  boolean asksIpsets() {
    return !ipsets.isEmpty();
  }

  /** What a target without its options does; empty: nothing that matters. */
  static Optional<Step> target(String name) {
    return switch (name) {
      case "MASQUERADE" -> Optional.of(new Step.Translate(true, Optional.empty()));
      case "DNAT", "REDIRECT" -> Optional.of(Step.Verdict.REDIRECT);
      case "RETURN" -> Optional.of(Step.Verdict.RETURN);
      case "ACCEPT" -> Optional.of(Step.Verdict.ACCEPT);
      case "DROP" -> Optional.of(Step.Verdict.DROP);
      case "MARK", "CONNMARK", "HMARK", "SET" -> Optional.of(Step.SetMark.ANY);
      default ->
          HARMLESS.contains(name)
              ? Optional.empty()
              : Optional.of(
                  REWRITING.contains(name) ? Step.Unknown.ADDRESSES : Step.Unknown.VERDICT);
    };
  }

  List<Rule> read(List<String> lines, Place place, Predicate<String> isChain, Jumps jumps) {
    return lines.stream().map(line -> read(line, place, isChain, jumps)).toList();
  }

  /**
   * @param line {@code -A CHAIN …}
   */
  Rule read(String line, Place place, Predicate<String> isChain, Jumps jumps) {
    List<String> words = Listing.words(line);
    Line rule = new Line(words, place, isChain, jumps);
    return new Rule(rule.read(), line);
  }

  private static String option(List<String> words, String name) {
    int option = words.indexOf(name);
    return option < 0 || option + 1 >= words.size() ? "" : words.get(option + 1);
  }

  /** The words of one rule. */
  private final class Line {
    private final List<String> words;
    private final Place place;
    private final Predicate<String> isChain;
    private final Jumps jumps;
    private final List<Step> steps = new ArrayList<>();
    private int at = 2;
    private boolean negated;
    private String module = "";

    Line(List<String> words, Place place, Predicate<String> isChain, Jumps jumps) {
      this.words = words;
      this.place = place;
      this.isChain = isChain;
      this.jumps = jumps;
    }

    List<Step> read() {
      while (at < words.size()) {
        String word = next();
        switch (word) {
          case "!" -> negated = true;
          case "-s" -> add(block(next(), Field.SOURCE));
          case "-d" -> add(block(next(), Field.DESTINATION));
          case "-o" -> add(place.link(true, next(), links));
          case "-i" -> add(place.link(false, next(), links));
          case "-p" -> add(protocol(Protocols.canonical(next())));
          case "-f" -> add(place.tracked(false)); // tracking joins fragments
          case "--comment" -> next();
          case "--mark" -> add(mark(masked(next())));
          case "--dport", "--dports" -> add(ports(next(), Field.PORT));
          case "--sport", "--sports" -> add(ports(next(), Field.SOURCE_PORT));
          case "--dst-type" -> add(type(next(), Field.TO_NODE));
          case "--src-type" -> add(type(next(), Field.FROM_NODE));
          case "--ctstate", "--state" ->
              add(place.tracked(List.of(next().split(",", -1)).contains("NEW")));
          case "--src-range" -> add(range(next(), Field.SOURCE));
          case "--dst-range" -> add(range(next(), Field.DESTINATION));
          case "--match-set" -> add(matchSet(next(), next()));
          case "-m" -> {
            module = next();
            if (!SAYS_NOTHING.contains(module) && !isOptionNext()) {
              add(Test.UNJUDGED);
            }
          }
          case "-j", "-g" -> {
            target(next(), word.equals("-g")).ifPresent(steps::add);
            return steps; // the target's own options follow
          }
          default -> unjudged();
        }
      }
      return steps;
    }

    private String next() {
      return at < words.size() ? words.get(at++) : "";
    }

    private void add(Test test) {
      steps.add(test.negatedIf(negated));
      negated = false;
    }

    private static Test protocol(String name) {
      if (!Protocols.isKnown(name)) {
        return Test.UNJUDGED;
      }
      int number = Protocols.number(name);
      return Test.of(Field.PROTOCOL, Interval.of(number, number));
    }

    private Test block(String text, Field field) {
      return Cidr.parse(text) instanceof Cidr.Parsed.Block(var cidr)
          ? Test.of(field, Interval.of(cidr))
          : Ip.parse(text)
              .map(ip -> Test.of(field, Interval.of(ip)))
              .orElse(Test.UNJUDGED); // a mask with holes
    }

    private static Test range(String text, Field field) {
      return IpRange.parse(text)
          .map(range -> Test.of(field, Interval.of(range)))
          .orElse(Test.UNJUDGED);
    }

    private static Test ports(String text, Field field) {
      List<Interval> ranges = new ArrayList<>();
      try {
        for (String part : text.split(",", -1)) {
          String[] ends = part.split(":", -1);
          ranges.add(
              Interval.of(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1])));
        }
      } catch (NumberFormatException odd) {
        return Test.UNJUDGED;
      }
      return Test.of(field, ranges);
    }

    /** Not the connection's. */
    private Test mark(Optional<long[]> value) {
      return module.equals("mark") && value.isPresent()
          ? new Step.Marked(value.get()[0], value.get()[1])
          : Test.UNJUDGED;
    }

    private Test type(String type, Field field) {
      boolean limited =
          words.subList(at, words.size()).stream().anyMatch(it -> it.startsWith("--limit-iface-"));
      if (type.equals("LOCAL") && !limited) {
        return Test.of(field, Cell.YES);
      }
      return type.equals("UNICAST") && field == Field.TO_NODE && family == Family.IPV4 && !limited
          ? NOT_UNICAST.not()
          : Test.UNJUDGED;
    }

    /** Options that follow in the same match ask for more than the set. */
    private Test matchSet(String name, String directions) {
      return isOptionNext() || filled.contains(name)
          ? Test.UNJUDGED
          : ipsets.computeIfAbsent(
              name + " " + directions,
              _ -> Ipset.in(kernel, name, List.of(directions.split(",", -1)), family));
    }

    /** A module whose options follow is judged by them. */
    private boolean isOptionNext() {
      int from = at < words.size() && words.get(at).equals("!") ? at + 1 : at;
      return from < words.size() && words.get(from).startsWith("--");
    }

    /** An option and its values, up to the next option. */
    private void unjudged() {
      while (at < words.size() && !words.get(at).startsWith("-") && !words.get(at).equals("!")) {
        next();
      }
      add(Test.UNJUDGED);
    }

    private Optional<Step> target(String name, boolean noReturn) {
      if (isChain.test(name)) {
        return jumps.to(name, noReturn);
      }
      boolean untracks = name.equals("NOTRACK") || words.contains("--notrack");
      return switch (name) {
        case "SNAT" -> Optional.of(snat(option(words, "--to-source")));
        case "MARK" -> // clears the mask's bits, then flips the value's
            Optional.of(
                masked(option(words, "--set-xmark"))
                    .map(it -> new Step.SetMark(~it[1] & Step.Mark.ALL, it[0], 0))
                    .orElse(Step.SetMark.ANY));
        case "CONNMARK" -> // other modes change the connection's mark
            words.contains("--restore-mark")
                ? Optional.of(
                    masked(option(words, "--nfmask"))
                        .map(it -> Step.SetMark.unknown(it[0]))
                        .orElse(Step.SetMark.ANY))
                : Optional.empty();
        case "NOTRACK", "CT" -> untracks ? place.untracked() : Optional.empty();
        case "SET" -> {
          filled.add(option(words, "--add-set"));
          filled.add(option(words, "--del-set"));
          yield words.contains("--map-mark") ? Optional.of(Step.SetMark.ANY) : Optional.empty();
        }
        default -> IptablesReader.target(name);
      };
    }

    /** {@code --to-source 192.0.2.1-192.0.2.9:1024-2000}; IPv6 in brackets if ports follow. */
    private Step snat(String text) {
      if (text.matches(":[0-9-]+")) {
        return Step.Verdict.KEEP; // it gets another port at most
      }
      int colon = family == Family.IPV4 ? text.indexOf(':') : text.indexOf("]:");
      String addresses = (colon < 0 ? text : text.substring(0, colon)).replaceAll("[\\[\\]]", "");
      boolean once = words.indexOf("--to-source") == words.lastIndexOf("--to-source");
      return IpRange.parse(addresses)
          .filter(_ -> once)
          .<Step>map(to -> new Step.Translate(false, Optional.of(to)))
          .orElse(Step.Unknown.ADDRESSES);
    }
  }

  /** {@code value/mask}, or a value for all bits; empty if it is neither. */
  private static Optional<long[]> masked(String text) {
    String[] parts = text.split("/", 2);
    try {
      return Optional.of(
          new long[] {
            Long.decode(parts[0]), parts.length == 1 ? Step.Mark.ALL : Long.decode(parts[1])
          });
    } catch (NumberFormatException odd) {
      return Optional.empty();
    }
  }
}
