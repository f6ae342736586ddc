package ipmasq.backend.nftables;

import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import ipmasq.netlink.Data;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Compute.Immediate;
import ipmasq.netlink.nftables.Expression;
import ipmasq.netlink.nftables.Match.Cmp;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.Statement.Masquerade;
import ipmasq.netlink.nftables.Statement.Nat;
import ipmasq.netlink.nftables.Statement.NatFlag;
import ipmasq.policy.Policy;
import ipmasq.policy.Translation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads rules and sets back as a policy: builds the policy that they seem to express, lays it out
 * again and compares. Whatever is missing, foreign or out of order shows there.
 */
final class PolicyDecoder {
  private static final int IFNAMSIZ = 16; // a whole name; a shorter one is a prefix

  private PolicyDecoder() {}

  static Optional<Policy> policy(
      Family family, List<ChainRules> chains, Cidrs exempt, Cidrs sources) {
    Optional<List<Rule>> rules = rules(chains, TableNames.chain(family));
    Optional<Translation> translation = rules.flatMap(PolicyDecoder::translation);
    if (translation.isEmpty()) {
      return Optional.empty();
    }
    Policy candidate =
        new Policy(
            family,
            sources,
            interfaces(rules.get()),
            Policy.Destination.exempt(exempt),
            translation.get(),
            rules(chains, TableNames.pin(family)).isPresent());
    return same(NftablesLayout.chains(candidate), chains)
        ? Optional.of(candidate)
        : Optional.empty();
  }

  private static Optional<List<Rule>> rules(List<ChainRules> chains, Chain chain) {
    return chains.stream()
        .filter(c -> c.name().equals(chain.name()))
        .map(ChainRules::rules)
        .findFirst();
  }

  private static boolean same(List<ChainRules> wanted, List<ChainRules> found) {
    return wanted.size() == found.size()
        && wanted.stream().allMatch(chain -> found.stream().anyMatch(chain::sameAs));
  }

  private static List<String> interfaces(List<Rule> rules) {
    List<String> names = new ArrayList<>();
    for (Rule rule : rules) {
      if (rule.comment().equals(TableNames.INTERFACES_COMMENT)) {
        for (Expression expression : rule.expressions()) {
          if (expression instanceof Cmp(var _, var _, var data)) {
            names.add(interfaceName(data));
          }
        }
      }
    }
    return names;
  }

  private static String interfaceName(Data data) {
    String text = new String(data.bytes(), StandardCharsets.UTF_8);
    int end = text.indexOf('\0');
    return data.length() < IFNAMSIZ ? text + "+" : text.substring(0, end < 0 ? text.length() : end);
  }

  /** The last rule says how; the ports are those of the rules for the first protocol before it. */
  private static Optional<Translation> translation(List<Rule> rules) {
    if (rules.isEmpty()) {
      return Optional.empty();
    }
    List<PortRange> ports = new ArrayList<>();
    Object protocol = null;
    for (Rule rule : rules) {
      Optional<PortRange> range = ports(rule);
      if (range.isPresent()) {
        Expression own = rule.expressions().get(1);
        protocol = protocol == null ? own : protocol;
        if (own.equals(protocol)) {
          ports.add(range.get());
        }
      }
    }
    Rule last = rules.getLast();
    if (last.expressions().isEmpty()) {
      return Optional.empty();
    }
    return switch (last.expressions().getLast()) {
      case Masquerade(var flags, var _, var _) ->
          Optional.of(
              new Translation(Optional.empty(), ports, flags.contains(NatFlag.FULLY_RANDOM)));
      case Nat nat ->
          range(last, nat.firstAddress(), nat.lastAddress())
              .map(
                  range ->
                      new Translation(
                          Optional.of(range), ports, nat.flags().contains(NatFlag.FULLY_RANDOM)));
      case Expression _ -> Optional.empty();
    };
  }

  private static Optional<PortRange> ports(Rule rule) {
    if (rule.expressions().size() < 2) {
      return Optional.empty();
    }
    return switch (rule.expressions().getLast()) {
      case Masquerade(var _, var first, var last) -> ports(rule, first, last);
      case Nat nat -> ports(rule, nat.firstPort(), nat.lastPort());
      case Expression _ -> Optional.empty();
    };
  }

  private static Optional<PortRange> ports(Rule rule, int first, int last) {
    Optional<Data> low = constant(rule, first);
    Optional<Data> high = constant(rule, last);
    if (low.isEmpty() || high.isEmpty()) {
      return Optional.empty();
    }
    int from = port(low.get());
    int to = port(high.get());
    return from < 1 || to > 65535 || from > to
        ? Optional.empty()
        : Optional.of(new PortRange(from, to));
  }

  /** In network order; 0, which is no port, if it is something else. */
  private static int port(Data data) {
    byte[] bytes = data.bytes();
    return bytes.length == 2 ? (bytes[0] & 0xff) << 8 | bytes[1] & 0xff : 0;
  }

  private static Optional<IpRange> range(Rule rule, int first, int last) {
    Optional<Data> low = constant(rule, first);
    Optional<Data> high = constant(rule, last);
    if (low.isEmpty() || high.isEmpty() || low.get().length() != high.get().length()) {
      return Optional.empty();
    }
    if (low.get().length() != 4 && low.get().length() != 16) {
      return Optional.empty();
    }
    Ip from = Ip.ofBytes(low.get().bytes());
    Ip to = Ip.ofBytes(high.get().bytes());
    return from.compareTo(to) > 0 ? Optional.empty() : Optional.of(new IpRange(from, to));
  }

  private static Optional<Data> constant(Rule rule, int register) {
    for (Expression expression : rule.expressions()) {
      if (expression instanceof Immediate(var to, var data) && to == register) {
        return Optional.of(data);
      }
    }
    return Optional.empty();
  }
}
