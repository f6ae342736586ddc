package ipmasq.backend.iptables;

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
 * A policy as rules: our chain, and a second one only where exceptions need it.
 *
 * <pre>
 *   IP-MASQ-AGENT                               the same with exceptions: IP-MASQ-AGENT-OUT
 *     -d exempt    → RETURN                       -d exempt    → RETURN      scope → MASQUERADE
 *     -d exempt    → RETURN                       -d exception → the other
 *     scope        → MASQUERADE                   all else     → the other
 * </pre>
 *
 * <p>A scope is a source and an output interface; a packet outside of all scopes falls off the end.
 * So the size is that of the destinations plus that of the scopes, never their product.
 */
record Layout(List<Rule> main, List<Rule> out) {
  private static final List<String> PROTOCOLS = List.of("tcp", "udp", "sctp");

  static Layout of(Policy policy, Names names) {
    List<Rule> main = new ArrayList<>(policy.destinations().size() + 8);
    boolean exceptions = false;
    for (Destination destination : policy.destinations()) {
      boolean exempt = destination.treatment() == Treatment.EXEMPT;
      exceptions |= !exempt;
      main.add(
          exempt
              ? Rule.to(destination.range(), Wording.EXEMPT, Rule.RETURN)
              : Rule.to(destination.range(), Wording.EXCEPTION, names.out()));
    }
    List<Rule> translations = translations(policy);
    if (!exceptions) {
      main.addAll(translations);
      return new Layout(main, List.of());
    }
    main.add(Rule.to(Rule.any(policy.family()), Wording.OUTBOUND, names.out()));
    return new Layout(main, translations);
  }

  private static List<Rule> translations(Policy policy) {
    List<Cidr> sources =
        policy.sources().isEmpty() ? List.of(Rule.any(policy.family())) : policy.sources();
    List<String> interfaces = policy.interfaces().isEmpty() ? List.of("") : policy.interfaces();
    List<Rule> rules = new ArrayList<>();
    for (Cidr source : sources) {
      for (String out : interfaces) {
        scope(source, out, policy.translation(), rules);
      }
    }
    return rules;
  }

  private static void scope(Cidr source, String out, Translation how, List<Rule> rules) {
    for (String protocol : PROTOCOLS) {
      long remaining = how.ports().stream().mapToLong(PortRange::size).sum();
      for (int i = 0; i < how.ports().size(); i++) {
        PortRange ports = how.ports().get(i);
        // Each range gets its share of what the ranges before it left over; the last one the rest.
        Probability probability =
            i == how.ports().size() - 1
                ? Probability.ALWAYS
                : Probability.of(ports.size(), remaining);
        rules.add(translation(source, out, protocol, probability, Optional.of(ports), how));
        remaining -= ports.size();
      }
    }
    rules.add(translation(source, out, "", Probability.ALWAYS, Optional.empty(), how));
  }

  private static Rule translation(
      Cidr source,
      String out,
      String protocol,
      Probability probability,
      Optional<PortRange> ports,
      Translation how) {
    return new Rule(
        source,
        Rule.any(source.family()),
        out,
        protocol,
        Wording.OUTBOUND,
        false,
        probability,
        how.addresses().isPresent() ? Rule.SNAT : Rule.MASQUERADE,
        how.addresses(),
        ports,
        how.randomFully());
  }

  /** The same rules as today's version writes them. */
  Layout modern() {
    return new Layout(modern(main), modern(out));
  }

  private static List<Rule> modern(List<Rule> rules) {
    List<Rule> modern = new ArrayList<>(rules.size());
    for (Rule rule : rules) {
      modern.add(rule.modern());
    }
    return modern;
  }

  /** The policy that these rules are, and nothing where they are not exactly one. */
  Optional<Policy> policy(Family family, Names names) {
    List<Destination> destinations = new ArrayList<>(main.size());
    for (Rule rule : main) {
      if (rule.comment().equals(Wording.EXEMPT)) {
        destinations.add(new Destination(rule.destination(), Treatment.EXEMPT));
      } else if (rule.comment().equals(Wording.EXCEPTION)) {
        destinations.add(new Destination(rule.destination(), Treatment.TRANSLATE));
      }
    }
    List<Rule> translations = out.isEmpty() ? main.subList(destinations.size(), main.size()) : out;
    if (translations.isEmpty()) {
      return Optional.empty();
    }
    Policy candidate = candidate(family, destinations, translations);
    // Whatever the candidate missed (order, shares, a rule too many) shows when it is laid out.
    return Layout.of(candidate, names).equals(this) ? Optional.of(candidate) : Optional.empty();
  }

  private static Policy candidate(
      Family family, List<Destination> destinations, List<Rule> translations) {
    Set<Cidr> sources = new LinkedHashSet<>();
    Set<String> interfaces = new LinkedHashSet<>();
    List<PortRange> ports = new ArrayList<>();
    Rule first = translations.getFirst();
    for (Rule rule : translations) {
      if (rule.source().prefix() > 0) {
        sources.add(rule.source());
      }
      if (!rule.out().isEmpty()) {
        interfaces.add(rule.out());
      }
      if (rule.protocol().equals(PROTOCOLS.getFirst())
          && rule.source().equals(first.source())
          && rule.out().equals(first.out())) {
        rule.ports().ifPresent(ports::add);
      }
    }
    return new Policy(
        family,
        List.copyOf(sources),
        List.copyOf(interfaces),
        destinations,
        new Translation(first.addresses(), ports, first.randomFully()));
  }
}
