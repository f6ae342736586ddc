package ipmasq.backend.iptables;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.util.List;
import java.util.Optional;

/**
 * Reads a rule as iptables-save writes it. A rule with anything that ours never have is rejected:
 * it is not ours, whatever its comment says.
 */
final class IptablesRuleReader {
  private final Family family;
  private final List<String> words;
  private int at;

  private Cidr source;
  private Cidr destination;
  private String out = "";
  private String protocol = "";
  private String comment = "";
  private boolean excludesLocal;
  private Probability probability = Probability.ALWAYS;
  private String target = "";
  private Optional<IpRange> addresses = Optional.empty();
  private Optional<PortRange> ports = Optional.empty();
  private boolean randomFully;

  private IptablesRuleReader(Family family, List<String> words) {
    this.family = family;
    this.words = words;
    source = IptablesRule.any(family);
    destination = source;
  }

  static Optional<IptablesRule> read(Family family, List<String> words) {
    IptablesRuleReader reader = new IptablesRuleReader(family, words);
    while (reader.at < words.size()) {
      if (!reader.option(reader.next())) {
        return Optional.empty();
      }
    }
    return reader.target.isEmpty() ? Optional.empty() : Optional.of(reader.rule());
  }

  private IptablesRule rule() {
    return new IptablesRule(
        source,
        destination,
        out,
        protocol,
        comment,
        excludesLocal,
        probability,
        target,
        addresses,
        ports,
        randomFully);
  }

  private boolean option(String name) {
    return switch (name) {
      case "-s" -> Cidr.parse(next()) instanceof Cidr.Parsed.Block(var cidr) && fits(source = cidr);
      case "-d" ->
          Cidr.parse(next()) instanceof Cidr.Parsed.Block(var cidr) && fits(destination = cidr);
      case "-o" -> !(out = next()).isEmpty();
      case "-p" -> !(protocol = next()).isEmpty();
      case "-m" -> module(next());
      case "-j" -> !(target = next()).isEmpty();
      case "--comment" -> !(comment = next()).isEmpty();
      case "!" -> excludesLocal = next().equals("--dst-type") && next().equals("LOCAL");
      case "--mode" -> next().equals("random");
      case "--probability" -> !(probability = Probability.parse(next())).equals(Probability.ALWAYS);
      case "--to-ports" -> (ports = ports(next())).isPresent();
      case "--to-source" -> toSource(next());
      case "--random-fully" -> randomFully = true;
      default -> false;
    };
  }

  private static boolean module(String name) {
    return name.equals("comment") || name.equals("addrtype") || name.equals("statistic");
  }

  private String next() {
    return at < words.size() ? words.get(at++) : "";
  }

  private boolean fits(Cidr cidr) {
    return cidr.family() == family;
  }

  /** {@code a}, {@code a-b}, {@code a-b:p-q}, {@code [a-b]:p-q}. */
  private boolean toSource(String text) {
    String range = text;
    int colon = family == Family.IPV4 ? text.indexOf(':') : text.indexOf("]:") + 1;
    if (colon > 0) {
      ports = ports(text.substring(colon + 1));
      range = family == Family.IPV4 ? text.substring(0, colon) : text.substring(1, colon - 1);
      if (ports.isEmpty()) {
        return false;
      }
    }
    addresses = IpRange.parse(range);
    return addresses.isPresent() && addresses.get().family() == family;
  }

  private static Optional<PortRange> ports(String text) {
    if (!text.matches("\\d{1,5}(-\\d{1,5})?")) {
      return Optional.empty();
    }
    int dash = text.indexOf('-');
    int first = Integer.parseInt(dash < 0 ? text : text.substring(0, dash));
    int last = Integer.parseInt(text.substring(dash + 1));
    return first > 0 && first <= last && last <= 65535
        ? Optional.of(new PortRange(first, last))
        : Optional.empty();
  }
}
