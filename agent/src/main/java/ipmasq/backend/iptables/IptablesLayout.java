package ipmasq.backend.iptables;

import ipmasq.backend.iptables.IptablesRule.Probability;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.PortRange;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A policy as rules: one chain, and a second one only for exceptions.
 *
 * <pre>
 *   IP-MASQ-AGENT                               the same with exceptions: IP-MASQ-AGENT-OUT
 *     -d exempt    → RETURN                       -d exempt    → RETURN      scope → MASQUERADE
 *     -d exempt    → RETURN                       -d exception → the other
 *     scope        → MASQUERADE                   all else     → the other
 * </pre>
 *
 * <p>A scope is a source and an output interface; a packet outside of all scopes falls off the end.
 * So the number of rules is destinations plus scopes, never their product.
 */
record IptablesLayout(List<IptablesRule> main, List<IptablesRule> out) {
  private static final List<String> PROTOCOLS = List.of("tcp", "udp", "sctp");

  static IptablesLayout of(Policy policy, ChainNames names) {
    List<IptablesRule> main = new ArrayList<>(policy.destinations().size() + 8);
    boolean exceptions = false;
    for (Destination destination : policy.destinations()) {
      boolean exempt = destination.treatment() == Treatment.EXEMPT;
      exceptions |= !exempt;
      main.add(
          exempt
              ? IptablesRule.to(destination.range(), RuleComments.EXEMPT, IptablesRule.RETURN)
              : IptablesRule.to(destination.range(), RuleComments.EXCEPTION, names.out()));
    }
    List<IptablesRule> translations = translations(policy);
    if (!exceptions) {
      main.addAll(translations);
      return new IptablesLayout(main, List.of());
    }
    main.add(
        IptablesRule.to(IptablesRule.any(policy.family()), RuleComments.OUTBOUND, names.out()));
    return new IptablesLayout(main, translations);
  }

  private static List<IptablesRule> translations(Policy policy) {
    List<Cidr> sources =
        policy.sources().isEmpty() ? List.of(IptablesRule.any(policy.family())) : policy.sources();
    List<String> interfaces = policy.interfaces().isEmpty() ? List.of("") : policy.interfaces();
    List<IptablesRule> rules = new ArrayList<>();
    for (Cidr source : sources) {
      for (String out : interfaces) {
        scope(source, out, policy.translation(), rules);
      }
    }
    return rules;
  }

  private static void scope(Cidr source, String out, Translation how, List<IptablesRule> rules) {
    for (String protocol : PROTOCOLS) {
      long remaining = how.ports().stream().mapToLong(PortRange::size).sum();
      for (PortRange ports : how.ports()) {
        // Each range takes its share of what the ranges before it leave; the last takes the rest.
        Probability probability =
            remaining == ports.size()
                ? Probability.ALWAYS
                : Probability.of(ports.size(), remaining);
        rules.add(translation(source, out, protocol, probability, List.of(ports), how));
        remaining -= ports.size();
      }
    }
    rules.add(translation(source, out, "", Probability.ALWAYS, List.of(), how));
  }

  private static IptablesRule translation(
      Cidr source,
      String out,
      String protocol,
      Probability probability,
      List<PortRange> ports,
      Translation how) {
    return new IptablesRule(
        source,
        IptablesRule.any(source.family()),
        out,
        protocol,
        RuleComments.OUTBOUND,
        false,
        probability,
        how.addresses().isPresent() ? IptablesRule.SNAT : IptablesRule.MASQUERADE,
        new Translation(how.addresses(), ports, how.randomFully()));
  }

  /** The policy that these rules express; empty if they are not exactly one. */
  Optional<Policy> policy(Family family, ChainNames names) {
    List<Destination> destinations = new ArrayList<>(main.size());
    for (IptablesRule rule : main) {
      if (rule.comment().equals(RuleComments.EXEMPT)) {
        destinations.add(new Destination(rule.destination(), Treatment.EXEMPT));
      } else if (rule.comment().equals(RuleComments.EXCEPTION)) {
        destinations.add(new Destination(rule.destination(), Treatment.TRANSLATE));
      }
    }
    List<IptablesRule> translations =
        out.isEmpty() ? main.subList(destinations.size(), main.size()) : out;
    if (translations.isEmpty()) {
      return Optional.empty();
    }
    Policy candidate = candidate(family, destinations, translations);
    // Whatever differs from the candidate (order, shares, extra rules) shows when it is laid out.
    return IptablesLayout.of(candidate, names).equals(this)
        ? Optional.of(candidate)
        : Optional.empty();
  }

  private static Policy candidate(
      Family family, List<Destination> destinations, List<IptablesRule> translations) {
    Set<Cidr> sources = new LinkedHashSet<>();
    Set<String> interfaces = new LinkedHashSet<>();
    List<PortRange> ports = new ArrayList<>();
    IptablesRule first = translations.getFirst();
    for (IptablesRule rule : translations) {
      if (rule.source().prefix() > 0) {
        sources.add(rule.source());
      }
      if (!rule.out().isEmpty()) {
        interfaces.add(rule.out());
      }
      if (rule.protocol().equals(PROTOCOLS.getFirst())
          && rule.source().equals(first.source())
          && rule.out().equals(first.out())) {
        ports.addAll(rule.how().ports());
      }
    }
    return new Policy(
        family,
        List.copyOf(sources),
        List.copyOf(interfaces),
        destinations,
        new Translation(first.how().addresses(), ports, first.how().randomFully()));
  }
}
