package ipmasq.hook.nftables;

import ipmasq.backend.nftables.TableNames;
import ipmasq.hook.Action;
import ipmasq.hook.BaseChain;
import ipmasq.hook.EarlierMark;
import ipmasq.hook.HookPoint;
import ipmasq.hook.ipset.ForeignIpsets;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Hook;
import ipmasq.netlink.nftables.Nftables.Head;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * The base chains of nf_tables at a nat hook, including iptables-nft's, and the chains that they
 * jump to. Used by one thread; each look opens its own sockets.
 *
 * <p>A look reads a bounded number of chains, rules and elements. A chain beyond that counts as
 * unreadable.
 */
public final class ForeignChains {
  private static final int MOST_CHAINS = 1000;
  private static final int MOST_RULES = 10_000;
  private static final String OURS = "ours";

  /** IPv6's stateless translation of prefixes. */
  private static final Action SNPT = new Action.UnknownAction("-j SNPT");

  private static final Set<String> TABLES_OF_IPTABLES =
      Set.of("raw", "mangle", "nat", "filter", "security");

  /** Chains of a service: a jump there is enough to know that the destination changes. */
  private static final List<String> OF_SERVICES =
      List.of("KUBE-SVC-", "KUBE-SEP-", "KUBE-SVL-", "KUBE-EXT-", "KUBE-FW-", "KUBE-XLB-");

  private final RulesetReader kernel = new RulesetReader();
  private final BaseChains bases;
  private final Family family;
  private final Optional<String> ourChain;
  private final boolean ownTable;
  private final Map<Table, ForeignSets> sets = new HashMap<>();
  private final ForeignIpsets ipsets;
  private Optional<Ip> destination = Optional.empty();
  private boolean forMarks;
  private int chainsLeft = MOST_CHAINS;
  private int rulesLeft = MOST_RULES;

  private ForeignChains(
      BaseChains bases,
      ForeignIpsets ipsets,
      Family family,
      Optional<String> ourChain,
      boolean ownTable) {
    this.ipsets = ipsets;
    this.bases = bases;
    this.family = family;
    this.ourChain = ourChain;
    this.ownTable = ownTable;
  }

  /**
   * The chains at nat postrouting.
   *
   * @param ourChain the chain of iptables-nft that holds the policy in force, if any
   * @param ownTable whether our own table holds it: then its chains are places, not rules
   */
  public static List<BaseChain> postrouting(
      BaseChains bases,
      ForeignIpsets ipsets,
      Family family,
      Optional<String> ourChain,
      boolean ownTable) {
    ForeignChains reader = new ForeignChains(bases, ipsets, family, ourChain, ownTable);
    return reader.read(Hook.POSTROUTING, true);
  }

  /**
   * The nat chains in which services get their destination. Of the rules for thousands of services,
   * only those that may concern a destination are kept.
   *
   * @param point prerouting or, for the node's own packets, output
   */
  public static List<BaseChain> services(
      BaseChains bases, ForeignIpsets ipsets, Ip to, HookPoint point) {
    ForeignChains chains = new ForeignChains(bases, ipsets, to.family(), Optional.empty(), false);
    chains.destination = Optional.of(to);
    return chains.read(point == HookPoint.OUTPUT ? Hook.OUTPUT : Hook.PREROUTING, false);
  }

  /**
   * Rules that may mark packets before nat postrouting. kube-proxy's own are left out: they mark
   * packets to services.
   *
   * @param asked the bits of the mark that matter
   */
  public static List<EarlierMark> marks(BaseChains bases, Family family, long asked) {
    ForeignChains reader =
        new ForeignChains(bases, ForeignIpsets.unread(), family, Optional.empty(), false);
    reader.forMarks = true;
    try (RulesetReader _ = reader.kernel) {
      Optional<List<Chain>> awake = reader.awake();
      if (awake.isEmpty()) {
        return List.of(EarlierMark.unknown());
      }
      List<EarlierMark> marks = new ArrayList<>();
      for (Chain chain : awake.get()) {
        Chain.BaseHook base = chain.base().orElseThrow();
        boolean ours = base.type().equals("nat") && base.hook() == Hook.POSTROUTING;
        if (!ours && base.hook() != Hook.INPUT && !chain.table().equals("kube-proxy")) {
          marks.addAll(EarlierMark.in(reader.read(chain, base), asked));
        }
      }
      return marks;
    }
  }

  /** The nat chains at a hook, and chains of other kinds that decide before or after them. */
  private List<BaseChain> read(Hook hook, boolean others) {
    try (kernel) {
      Optional<List<Chain>> awake = awake();
      if (awake.isEmpty()) {
        return List.of(
            BaseChain.unreadable(
                "nf_tables", HookPoint.POSTROUTING, 0, "the kernel did not list its rules to us"));
      }
      List<BaseChain> found = new ArrayList<>();
      for (Chain chain : awake.get()) {
        Chain.BaseHook base = chain.base().orElseThrow();
        if (base.type().equals("nat") && base.hook() == hook) {
          found.add(read(chain, base));
        }
      }
      for (Chain chain : others ? awake.get() : List.<Chain>of()) {
        Chain.BaseHook base = chain.base().orElseThrow();
        if (!base.type().equals("nat")) {
          deciding(chain, base).ifPresent(found::add);
        }
      }
      return found;
    }
  }

  /** A chain of another type, if it has rules that keep packets from nat or rewrite them. */
  private Optional<BaseChain> deciding(Chain chain, Chain.BaseHook base) {
    boolean early =
        (base.hook() == Hook.PREROUTING || base.hook() == Hook.OUTPUT)
            && base.priority() <= BaseChain.NF_IP_PRI_CONNTRACK;
    if (!early && base.hook() != Hook.POSTROUTING) {
      return Optional.empty();
    }
    BaseChain read = read(chain, base);
    boolean decides = early ? read.has(Action.Untrack.class::isInstance) : read.has(SNPT::equals);
    return decides ? Optional.of(read.trusting(SNPT::equals)) : Optional.empty();
  }

  /** The base chains that packets of this family pass; empty if the kernel does not list them. */
  private Optional<List<Chain>> awake() {
    return bases
        .list(kernel)
        .map(
            all ->
                all.chains().stream()
                    .filter(chain -> chain.base().isPresent() && concerns(chain))
                    .filter(chain -> !isDormant(chain, all.tables()))
                    .toList());
  }

  private boolean concerns(Chain chain) {
    return switch (chain.family()) {
      case INET -> true;
      case IP -> family == Family.IPV4;
      case IP6 -> family == Family.IPV6;
      case NETDEV, BRIDGE -> forMarks; // they see packets before and after, and may mark them
      case ARP -> false;
    };
  }

  /** The chains of a dormant table see no packets. */
  private static boolean isDormant(Chain chain, Collection<Table> tables) {
    return tables.stream()
        .anyMatch(
            table ->
                table.family() == chain.family()
                    && table.name().equals(chain.table())
                    && table.flags().contains(Table.TableFlag.DORMANT));
  }

  private BaseChain read(Chain chain, Chain.BaseHook base) {
    Optional<Action> ours = ownTable ? ours(chain) : Optional.empty();
    if (ours.isPresent()) {
      String where = "table inet " + TableNames.TABLE.name() + " chain " + chain.name();
      ipmasq.hook.Rule rule = new ipmasq.hook.Rule(List.of(), ours.get(), "our own rules");
      return new BaseChain(where, base.priority(), OURS, Map.of(OURS, List.of(rule)));
    }
    boolean iptables =
        (chain.family() == TableFamily.IP || chain.family() == TableFamily.IP6)
            && TABLES_OF_IPTABLES.contains(chain.table())
            && chain.name().equals(base.hook().name());
    String name =
        iptables
            ? "iptables-nft "
                + (chain.table().equals("nat") ? "" : chain.table() + " ")
                + chain.name()
            : "table " + chain.family() + " " + chain.table() + " chain " + chain.name();
    return new BaseChain(
        name,
        point(chain.family(), base.hook()),
        base.priority(),
        chain.name(),
        base.policy() == Chain.Policy.DROP,
        new BaseChain.ChainsRead(reachable(chain, iptables)));
  }

  private static HookPoint point(TableFamily family, Hook hook) {
    if (family == TableFamily.NETDEV || family == TableFamily.BRIDGE) {
      return HookPoint.LINK;
    }
    return switch (hook) {
      case PREROUTING, INGRESS -> HookPoint.PREROUTING;
      case INPUT, FORWARD -> HookPoint.FORWARD;
      case OUTPUT -> HookPoint.OUTPUT;
      case POSTROUTING, EGRESS -> HookPoint.POSTROUTING;
    };
  }

  /** The action of one of our own chains; empty if it is not ours. */
  private Optional<Action> ours(Chain chain) {
    if (!chain.table().equals(TableNames.TABLE.name()) || chain.family() != TableFamily.INET) {
      return Optional.empty();
    }
    for (Family each : Family.values()) {
      boolean same = each == family;
      if (chain.name().equals(TableNames.chain(each).name())) {
        return Optional.of(same ? new Action.Ours() : new Action.NoAction());
      }
      if (chain.name().equals(TableNames.pin(each).name())) {
        return Optional.of(same ? new Action.Pin() : new Action.NoAction());
      }
    }
    return Optional.empty(); // another program's, in our table
  }

  /** The chains reachable from a base chain, as far as they can be read. */
  private Map<String, List<ipmasq.hook.Rule>> reachable(Chain base, boolean iptables) {
    Map<String, List<ipmasq.hook.Rule>> read = new HashMap<>();
    List<String> todo = new ArrayList<>(List.of(base.name()));
    while (!todo.isEmpty() && chainsLeft > 0) {
      String name = todo.removeLast();
      if (read.containsKey(name)) {
        continue;
      }
      chainsLeft--;
      Optional<List<ipmasq.hook.Rule>> rules = rules(base, name, iptables);
      if (rules.isPresent()) {
        read.put(name, rules.get());
        rules.get().forEach(rule -> rule.target().ifPresent(todo::add));
      }
    }
    return read;
  }

  private Optional<List<ipmasq.hook.Rule>> rules(Chain base, String name, boolean iptables) {
    Chain chain = new Chain(base.family(), base.table(), name, Optional.empty(), "", 0);
    Optional<Head<Rule>> head =
        kernel.head(nftables -> nftables.rules(chain, rulesLeft, this::mayConcern));
    if (head.isEmpty() || !head.get().whole()) {
      return Optional.empty();
    }
    rulesLeft -= head.get().list().size();
    Function<String, ForeignSets.Elements> content =
        forMarks ? _ -> new ForeignSets.Elements.Unreadable() : sets(base)::content;
    List<ipmasq.hook.Rule> read = new ArrayList<>();
    for (Rule rule : head.get().list()) {
      for (ipmasq.hook.Rule each : ForeignRule.read(rule, family, content, ipsets, iptables)) {
        read.add(iptables ? known(each) : each);
      }
    }
    return Optional.of(read);
  }

  private ForeignSets sets(Chain base) {
    return sets.computeIfAbsent(
        new Table(base.family(), base.table()), table -> new ForeignSets(kernel, table));
  }

  private boolean mayConcern(Rule rule) {
    return destination.isEmpty() || ForeignRule.mayConcern(rule, destination.get());
  }

  /**
   * A jump to our chain means our policy; one to a service's chain means a change of destination.
   */
  private ipmasq.hook.Rule known(ipmasq.hook.Rule rule) {
    Optional<String> target = rule.target();
    if (target.isEmpty()) {
      return rule;
    }
    if (target.equals(ourChain)) {
      return new ipmasq.hook.Rule(rule.conditions(), new Action.Ours(), rule.text());
    }
    if (forMarks && EarlierMark.isOfServices(target.get())) {
      return new ipmasq.hook.Rule(rule.conditions(), new Action.NoAction(), rule.text());
    }
    return OF_SERVICES.stream().anyMatch(target.get()::startsWith)
        ? new ipmasq.hook.Rule(
            rule.conditions(), new Action.ChangeDestination(target.get()), rule.text())
        : rule;
  }
}
