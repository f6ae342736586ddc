package ipmasq.backend.iptables;

import ipmasq.iptables.Listing;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.util.Optional;
import java.util.regex.Pattern;

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
    Optional<IpRange> addresses,
    Optional<PortRange> ports,
    boolean randomFully) {
  static final String RETURN = "RETURN";
  static final String MASQUERADE = "MASQUERADE";
  static final String SNAT = "SNAT";

  /** Interfaces that iptables-restore reads as they are. */
  private static final Pattern PLAIN = Pattern.compile("[^\\s\"'\\\\#]+");

  private static final Cidr ANY4 = Cidr.of("0.0.0.0/0");
  private static final Cidr ANY6 = Cidr.of("::/0");

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
        any(to.family()),
        to,
        "",
        "",
        comment,
        excludesLocal,
        Probability.ALWAYS,
        target,
        Optional.empty(),
        Optional.empty(),
        false);
  }

  /**
   * The same rule as the current version writes it. Old versions checked for local destinations in
   * each rule, not only in the jump.
   */
  IptablesRule modern() {
    String today = RuleComments.modern(comment);
    return today.equals(comment)
        ? this
        : new IptablesRule(
            source,
            destination,
            out,
            protocol,
            today,
            false,
            probability,
            target,
            addresses,
            ports,
            randomFully);
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
    if (addresses.isPresent()) {
      text.append(" --to-source ");
      toSource(text, addresses.get());
    } else if (ports.isPresent()) {
      text.append(" --to-ports ").append(ports.get());
    }
    if (randomFully) {
      text.append(" --random-fully");
    }
  }

  private void toSource(StringBuilder text, IpRange range) {
    boolean brackets = ports.isPresent() && range.family() == Family.IPV6;
    text.append(brackets ? "[" : "").append(range).append(brackets ? "]" : "");
    if (ports.isPresent()) {
      text.append(':').append(ports.get());
    }
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    write(text);
    return text.toString();
  }
}
