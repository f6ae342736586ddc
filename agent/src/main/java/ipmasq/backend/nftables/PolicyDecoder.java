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
import java.nio.ByteBuffer;
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
  private static final Cmp IS_TCP = Cmp.eq(Data.u8(NftablesLayout.IPPROTO_TCP));

  private PolicyDecoder() {}

  static Optional<Policy> policy(
      Family family, List<ChainRules> chains, Cidrs exempt, Cidrs sources) {
    Optional<List<Rule>> rules = rules(chains, TableNames.chain(family));
    if (rules.isEmpty() || rules.get().isEmpty()) {
      return Optional.empty();
    }
    try {
      Policy candidate =
          new Policy(
              family,
              sources,
              interfaces(rules.get()),
              Policy.Destination.exempt(exempt),
              translation(rules.get()),
              rules(chains, TableNames.pin(family)).isPresent());
      return same(NftablesLayout.chains(candidate), chains)
          ? Optional.of(candidate)
          : Optional.empty();
    } catch (IllegalArgumentException noPolicy) {
      return Optional.empty(); // ports or addresses that no policy can have
    }
  }

  private static Optional<List<Rule>> rules(List<ChainRules> chains, Chain chain) {
    return chains.stream()
        .filter(c -> c.name().equals(chain.name()))
        .map(ChainRules::rules)
        .findFirst();
  }

  private static boolean same(List<ChainRules> desired, List<ChainRules> found) {
    return desired.size() == found.size()
        && desired.stream().allMatch(chain -> found.stream().anyMatch(chain::sameAs));
  }

  private static List<String> interfaces(List<Rule> rules) {
    List<String> names = new ArrayList<>();
    for (Rule rule : rules) {
      if (rule.comment().equals(TableNames.INTERFACES_COMMENT)) {
        for (Expression expression : rule.expressions()) {
          if (expression instanceof Cmp(_, _, var data)) {
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

  /** The last rule says how; the ports are those of the rules for the first protocol. */
  private static Translation translation(List<Rule> rules) {
    List<PortRange> ports = new ArrayList<>();
    for (Rule rule : rules) {
      List<Data> ends = constants(rule, true);
      if (!ends.isEmpty() && rule.expressions().contains(IS_TCP)) {
        ports.add(new PortRange(port(ends.getFirst()), port(ends.getLast())));
      }
    }
    Rule last = rules.getLast();
    List<Data> ends = constants(last, false);
    Optional<IpRange> addresses =
        ends.isEmpty()
            ? Optional.empty()
            : Optional.of(new IpRange(address(ends.getFirst()), address(ends.getLast())));
    boolean randomFully =
        last.expressions().stream()
            .anyMatch(
                expression ->
                    switch (expression) {
                      case Masquerade it -> it.flags().contains(NatFlag.FULLY_RANDOM);
                      case Nat it -> it.flags().contains(NatFlag.FULLY_RANDOM);
                      case Expression _ -> false;
                    });
    return new Translation(addresses, ports, randomFully);
  }

  /** What a rule puts into registers: first and last port, or first and last address. */
  private static List<Data> constants(Rule rule, boolean ports) {
    List<Data> found = new ArrayList<>();
    for (Expression expression : rule.expressions()) {
      if (expression instanceof Immediate(_, var data) && (data.length() == 2) == ports) {
        found.add(data);
      }
    }
    return found;
  }

  private static int port(Data data) {
    return Short.toUnsignedInt(ByteBuffer.wrap(data.bytes()).getShort());
  }

  private static Ip address(Data data) {
    return Ip.ofBytes(data.bytes());
  }
}
