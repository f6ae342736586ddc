package ipmasq.backend.iptables;

import ipmasq.iptables.Listing;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import ipmasq.policy.Translation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One rule of the kinds that we write, by meaning: addresses are values, so that different texts
 * with the same meaning are equal.
 *
 * @param source where packets come from; the whole family means anywhere
 * @param destination where they go; the whole family means anywhere
 * @param out the interface they leave by; empty: any
 * @param protocol empty: any
 * @param excludesLocal whether destinations that are the node's own are left out
 * @param target a verdict, a kind of translation, or a chain
 * @param how the target's options: with one range of ports at most
 */
record IptablesRule(
    Cidr source,
    Cidr destination,
    String out,
    String protocol,
    String comment,
    boolean excludesLocal,
    Probability probability,
    String target,
    Translation how) {
  static final String RETURN = "RETURN";
  static final String MASQUERADE = "MASQUERADE";
  static final String SNAT = "SNAT";

  /** Interfaces that iptables-restore reads as they are. */
  private static final Pattern PLAIN = Pattern.compile("[^\\s\"'\\\\#]+");

  private static final Pattern PORTS = Pattern.compile("(\\d{1,5})(-(\\d{1,5}))?");
  private static final Translation NOTHING = new Translation(Optional.empty(), List.of(), false);

  private static final Cidr ANY4 = Family.IPV4.all();
  private static final Cidr ANY6 = Family.IPV6.all();

  static Cidr any(Family family) {
    return family == Family.IPV4 ? ANY4 : ANY6;
  }

  /** A verdict or a jump for packets to a destination. */
  static IptablesRule to(Cidr destination, String comment, String target) {
    return to(destination, comment, false, target);
  }

  /** The jump from POSTROUTING. */
  static IptablesRule jump(Family family, String chain) {
    return to(any(family), RuleComments.jump(chain), true, chain);
  }

  private static IptablesRule to(Cidr to, String comment, boolean excludesLocal, String target) {
    return new IptablesRule(
        any(to.family()), to, "", "", comment, excludesLocal, Probability.ALWAYS, target, NOTHING);
  }

  /**
   * Reads a rule as iptables-save writes it. A rule with anything that ours never have is rejected:
   * it is not ours, whatever its comment says. Old wordings of a comment are read as today's; their
   * rules checked for local destinations one by one, not only in the jump.
   */
  static Optional<IptablesRule> read(Family family, List<String> words) {
    Map<String, String> options = new HashMap<>();
    for (int i = 0; i < words.size(); i++) {
      String name = words.get(i);
      boolean known =
          switch (name) {
            case "-m" -> List.of("comment", "addrtype", "statistic").contains(word(words, ++i));
            case "!" -> word(words, ++i).equals("--dst-type") && word(words, ++i).equals("LOCAL");
            case "--mode" -> word(words, ++i).equals("random");
            case "--random-fully" -> true;
            case "-s", "-d", "-o", "-p", "-j", "--comment", "--to-ports", "--to-source" ->
                !word(words, ++i).isEmpty();
            case "--probability" -> !Probability.parse(word(words, ++i)).equals(Probability.ALWAYS);
            default -> false;
          };
      if (!known) {
        return Optional.empty();
      }
      options.put(name, word(words, i));
    }
    try {
      return options.containsKey("-j") ? Optional.of(of(family, options)) : Optional.empty();
    } catch (IllegalArgumentException notOurs) {
      return Optional.empty(); // addresses or ports that we would not write
    }
  }

  private static String word(List<String> words, int at) {
    return at < words.size() ? words.get(at) : "";
  }

  private static IptablesRule of(Family family, Map<String, String> options) {
    String comment = options.getOrDefault("--comment", "");
    String modern = RuleComments.modern(comment);
    return new IptablesRule(
        block(family, options.get("-s")),
        block(family, options.get("-d")),
        options.getOrDefault("-o", ""),
        options.getOrDefault("-p", ""),
        modern,
        options.containsKey("!") && modern.equals(comment),
        Probability.parse(options.getOrDefault("--probability", "")),
        options.getOrDefault("-j", ""),
        how(family, options));
  }

  private static Cidr block(Family family, @Nullable String text) {
    return text == null ? any(family) : fitting(family, Cidr.of(text), Cidr::family);
  }

  private static <T> T fitting(Family family, T value, Function<T, Family> of) {
    if (of.apply(value) != family) {
      throw new IllegalArgumentException(value + " in a rule of the other family");
    }
    return value;
  }

  /** {@code --to-ports p}, {@code --to-source a}, {@code a-b:p-q}, {@code [a-b]:p-q}. */
  private static Translation how(Family family, Map<String, String> options) {
    String range = options.getOrDefault("--to-source", "");
    String ports = options.getOrDefault("--to-ports", "");
    int colon = family == Family.IPV4 ? range.indexOf(':') : range.indexOf("]:") + 1;
    if (colon > 0) {
      ports = range.substring(colon + 1);
      range = family == Family.IPV4 ? range.substring(0, colon) : range.substring(1, colon - 1);
    }
    return new Translation(
        range.isEmpty()
            ? Optional.empty()
            : Optional.of(fitting(family, IpRange.of(range), IpRange::family)),
        ports.isEmpty() && colon <= 0 ? List.of() : List.of(ports(ports)),
        options.containsKey("--random-fully"));
  }

  private static PortRange ports(String text) {
    Matcher found = PORTS.matcher(text);
    if (!found.matches()) {
      throw new IllegalArgumentException("not ports: " + text);
    }
    String last = found.group(3);
    int first = Integer.parseInt(found.group(1));
    return new PortRange(first, last == null ? first : Integer.parseInt(last));
  }

  /** Matches and target, in the order in which iptables-save prints them. */
  void write(StringBuilder text) {
    if (source.prefix() > 0) {
      text.append("-s ").append(source).append(' ');
    }
    if (destination.prefix() > 0) {
      text.append("-d ").append(destination).append(' ');
    }
    if (!out.isEmpty()) {
      text.append("-o ")
          .append(PLAIN.matcher(out).matches() ? out : Listing.quoted(out))
          .append(' ');
    }
    if (!protocol.isEmpty()) {
      text.append("-p ").append(protocol).append(' ');
    }
    text.append("-m comment --comment ").append(Listing.quoted(comment));
    if (excludesLocal) {
      text.append(" -m addrtype ! --dst-type LOCAL");
    }
    if (!probability.equals(Probability.ALWAYS)) {
      text.append(" -m statistic --mode random --probability ").append(probability);
    }
    text.append(" -j ").append(target);
    String ports = how.ports().isEmpty() ? "" : how.ports().getFirst().toString();
    if (how.addresses().isPresent()) {
      IpRange range = how.addresses().get();
      boolean brackets = !ports.isEmpty() && range.family() == Family.IPV6;
      text.append(" --to-source ").append(brackets ? "[" + range + "]" : range);
      text.append(ports.isEmpty() ? "" : ":" + ports);
    } else if (!ports.isEmpty()) {
      text.append(" --to-ports ").append(ports);
    }
    if (how.randomFully()) {
      text.append(" --random-fully");
    }
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    write(text);
    return text.toString();
  }

  /** The share of packets that a rule takes, as the kernel holds it: 31 fraction bits. */
  record Probability(int fixed) {
    /** Every packet: the rule has no such match. */
    static final Probability ALWAYS = new Probability(0);

    private static final double ONE = 1L << 31;
    private static final long TEN_TO_11 =
        100_000_000_000L; // as iptables prints; more is lost anyway

    static Probability of(long part, long whole) {
      return new Probability((int) Math.round(part * ONE / whole));
    }

    /** Parses {@code 0.46929256292}; {@link #ALWAYS} if it is not such a number. */
    static Probability parse(String text) {
      return text.matches("0\\.\\d{1,18}")
          ? new Probability((int) Math.round(Double.parseDouble(text) * ONE))
          : ALWAYS;
    }

    @Override
    public String toString() {
      return "0." + String.valueOf(TEN_TO_11 + Math.round(fixed * (TEN_TO_11 / ONE))).substring(1);
    }
  }
}
