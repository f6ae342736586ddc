package ipmasq.backend.nftables;

import ipmasq.net.Family;
import ipmasq.net.PortRange;
import ipmasq.netlink.Data;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Compute.Bitwise;
import ipmasq.netlink.nftables.Compute.Byteorder;
import ipmasq.netlink.nftables.Compute.Immediate;
import ipmasq.netlink.nftables.Compute.Numgen;
import ipmasq.netlink.nftables.Expression;
import ipmasq.netlink.nftables.Load.Ct;
import ipmasq.netlink.nftables.Load.Fib;
import ipmasq.netlink.nftables.Load.Meta;
import ipmasq.netlink.nftables.Load.Payload;
import ipmasq.netlink.nftables.Match.Cmp;
import ipmasq.netlink.nftables.Match.Lookup;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.Statement.Counter;
import ipmasq.netlink.nftables.Statement.Masquerade;
import ipmasq.netlink.nftables.Statement.Nat;
import ipmasq.netlink.nftables.Statement.NatFlag;
import ipmasq.netlink.nftables.Statement.Verdict;
import ipmasq.netlink.nftables.TableFamily;
import ipmasq.policy.Policy;
import ipmasq.policy.Translation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The chains of a policy; its ranges are in sets:
 *
 * <pre>
 *   chain postrouting4, priority 105
 *     meta nfproto != ipv4 return
 *     ip saddr != @sources4 return                       only with sources
 *     oifname != "eth0" oifname != "ppp*" return         only with interfaces
 *     ip daddr @exempt4 counter return
 *     fib daddr type local return
 *     meta l4proto tcp numgen random mod 64512 &lt; 28976 masquerade to :1024-29999    only with ports
 *     counter masquerade fully-random
 *
 *   chain pin4, priority 85                              only if pinned
 *     meta nfproto != ipv4 return
 *     ct status dnat return
 *     (sources and interfaces as above)
 *     fib daddr type local return
 *     ip daddr @exempt4 counter snat to ip saddr
 * </pre>
 *
 * <p>Rules that match addresses check the protocol again, which nft does not show: without it nft
 * would print raw bytes instead of {@code ip daddr}.
 *
 * <p>The set lookup comes before the check for local destinations: it is cheaper, and both have the
 * same result.
 *
 * <p>NAT decides on a flow's source once: a flow that pin4 binds to its own source is not
 * translated by any later chain. Flows to a service must not be bound there: whoever changed their
 * destination masquerades those whose replies would otherwise bypass this node.
 */
final class NftablesLayout {
  static final Counter COUNTER = new Counter(0, 0);
  static final int IPPROTO_TCP = 6;
  private static final int IPPROTO_UDP = 17;
  private static final int IPPROTO_SCTP = 132;
  private static final int[] PROTOCOLS = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP};
  private static final Data IPS_DST_NAT = Data.hostU32(1 << 5);

  private final Family family;
  private final Chain chain;
  private final Data protocol;
  private final List<Rule> rules = new ArrayList<>();

  private NftablesLayout(Family family, Chain chain) {
    this.family = family;
    this.chain = chain;
    this.protocol = family == Family.IPV4 ? Meta.IPV4 : Meta.IPV6;
  }

  static List<ChainRules> chains(Policy policy) {
    ChainRules main = postrouting(policy);
    return policy.pinned() ? List.of(main, pin(policy)) : List.of(main);
  }

  private static ChainRules postrouting(Policy policy) {
    NftablesLayout layout = new NftablesLayout(policy.family(), TableNames.chain(policy.family()));
    layout.family();
    layout.scope(policy);
    layout.exempt(TableNames.EXEMPT_COMMENT, List.of(Verdict.RETURN));
    layout.local();
    layout.translate(policy.translation());
    return new ChainRules(layout.chain, layout.rules);
  }

  private static ChainRules pin(Policy policy) {
    NftablesLayout layout = new NftablesLayout(policy.family(), TableNames.pin(policy.family()));
    layout.family();
    layout.add(
        TableNames.SERVICE_COMMENT,
        new Ct(1, Ct.Key.STATUS),
        Bitwise.and(1, IPS_DST_NAT),
        Cmp.neq(Data.hostU32(0)),
        Verdict.RETURN);
    layout.scope(policy);
    layout.local();
    layout.exempt(
        TableNames.PIN_COMMENT,
        List.of(
            layout.source(), new Nat(Nat.Kind.SNAT, layout.tableFamily(), 1, 1, 0, 0, Set.of())));
    return new ChainRules(layout.chain, layout.rules);
  }

  private void family() {
    add("", new Meta(Meta.Key.NFPROTO), Cmp.neq(protocol), Verdict.RETURN);
  }

  private Payload source() {
    return family == Family.IPV4 ? Payload.IP_SADDR : Payload.IP6_SADDR;
  }

  private Payload destination() {
    return family == Family.IPV4 ? Payload.IP_DADDR : Payload.IP6_DADDR;
  }

  private void scope(Policy policy) {
    if (!policy.sources().isEmpty()) {
      add(
          TableNames.SOURCES_COMMENT,
          new Meta(Meta.Key.NFPROTO),
          Cmp.eq(protocol),
          source(),
          new Lookup(1, TableNames.sources(family).name(), true),
          Verdict.RETURN);
    }
    if (!policy.interfaces().isEmpty()) {
      List<Expression> none = new ArrayList<>();
      for (String name : policy.interfaces()) {
        none.add(new Meta(Meta.Key.OIFNAME));
        none.add(Cmp.neq(interfaceName(name)));
      }
      none.add(Verdict.RETURN);
      add(TableNames.INTERFACES_COMMENT, none);
    }
  }

  /** A trailing {@code +} matches any suffix, as in iptables. */
  private static Data interfaceName(String name) {
    return name.endsWith("+")
        ? Data.interfacePrefix(name.substring(0, name.length() - 1))
        : Data.interfaceName(name);
  }

  private void exempt(String comment, List<Expression> then) {
    List<Expression> rule = new ArrayList<>();
    rule.add(new Meta(Meta.Key.NFPROTO));
    rule.add(Cmp.eq(protocol));
    rule.add(destination());
    rule.add(Lookup.in(TableNames.exempt(family).name()));
    rule.add(COUNTER);
    rule.addAll(then);
    add(comment, rule);
  }

  private void local() {
    add(TableNames.LOCAL_COMMENT, Fib.destinationType(), Cmp.eq(Fib.LOCAL), Verdict.RETURN);
  }

  private void translate(Translation how) {
    if (!how.ports().isEmpty()) {
      for (int protocol : PROTOCOLS) {
        ports(protocol, how);
      }
    }
    List<Expression> all = new ArrayList<>(List.of(COUNTER));
    all.addAll(action(how, Optional.empty()));
    add(TableNames.OUTBOUND_COMMENT, all);
  }

  /** Each range takes its share of what the ranges before it leave; the last takes the rest. */
  private void ports(int protocol, Translation how) {
    int remaining = how.ports().stream().mapToInt(PortRange::size).sum();
    for (int i = 0; i < how.ports().size(); i++) {
      PortRange range = how.ports().get(i);
      List<Expression> rule = new ArrayList<>();
      rule.add(new Meta(Meta.Key.L4PROTO));
      rule.add(Cmp.eq(Data.u8(protocol)));
      if (i < how.ports().size() - 1) {
        rule.addAll(chance(range.size(), remaining));
      }
      rule.add(COUNTER);
      rule.addAll(action(how, Optional.of(range)));
      add(TableNames.OUTBOUND_COMMENT, rule);
      remaining -= range.size();
    }
  }

  /**
   * {@code numgen random mod N < K}; the kernel compares bytes from the left, so they are swapped.
   */
  private static List<Expression> chance(int share, int whole) {
    return List.of(
        Numgen.random(whole), Byteorder.toNetwork(1), new Cmp(1, Cmp.Operator.LT, Data.u32(share)));
  }

  private List<Expression> action(Translation how, Optional<PortRange> range) {
    Set<NatFlag> flags = how.randomFully() ? Set.of(NatFlag.FULLY_RANDOM) : Set.of();
    List<Expression> action = new ArrayList<>();
    Registers addresses =
        how.addresses()
            .map(it -> load(Data.of(it.first().bytes()), Data.of(it.last().bytes()), action))
            .orElse(Registers.NONE);
    Registers ports =
        range
            .map(it -> load(Data.u16(it.first()), Data.u16(it.last()), action))
            .orElse(Registers.NONE);
    action.add(
        how.addresses().isPresent()
            ? new Nat(
                Nat.Kind.SNAT,
                tableFamily(),
                addresses.first,
                addresses.last,
                ports.first,
                ports.last,
                flags)
            : new Masquerade(flags, ports.first, ports.last));
    return action;
  }

  /** Where the ends of a range are. */
  private record Registers(int first, int last) {
    static final Registers NONE = new Registers(0, 0);
  }

  /** Equal ends share a register. */
  private static Registers load(Data first, Data last, List<Expression> action) {
    action.add(new Immediate(action.size() + 1, first));
    int register = action.size();
    if (!first.equals(last)) {
      action.add(new Immediate(action.size() + 1, last));
    }
    return new Registers(register, action.size());
  }

  private TableFamily tableFamily() {
    return family == Family.IPV4 ? TableFamily.IP : TableFamily.IP6;
  }

  private void add(String comment, Expression... expressions) {
    add(comment, List.of(expressions));
  }

  private void add(String comment, List<Expression> expressions) {
    rules.add(new Rule(chain, expressions).commented(comment));
  }
}
