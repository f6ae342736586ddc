package ipmasq.evidence.neighbours;

import ipmasq.backend.nftables.TableNames;
import ipmasq.evidence.neighbours.Rule.Base;
import ipmasq.evidence.neighbours.Rule.Hooks;
import ipmasq.evidence.neighbours.Rule.Jumps;
import ipmasq.evidence.neighbours.Rule.Place;
import ipmasq.evidence.neighbours.Rule.Placed;
import ipmasq.evidence.neighbours.Rule.Stage;
import ipmasq.net.Family;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Expression;
import ipmasq.netlink.nftables.Hook;
import ipmasq.netlink.nftables.Nftables.Head;
import ipmasq.netlink.nftables.Statement.Counter;
import ipmasq.netlink.nftables.Statement.Verdict;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Reads the chains that packets pass, ours and other programs'. Used by one thread.
 *
 * <p>Rules of nf_tables come from the kernel. Those of iptables, of either kind, are what iptables
 * itself prints; of iptables-nft, only chains whose rules changed are printed again.
 */
final class HooksReader implements AutoCloseable {
  private static final int MOST_CHAINS = 1000;
  private static final int MOST_RULES = 10_000;
  private static final List<String> TABLES = List.of("raw", "mangle", "nat", "filter");
  private static final List<Integer> PRIORITIES = List.of(-300, -150, Place.NF_IP_PRI_NAT_DST, 0);

  private static final Map<Hook, Stage> STAGES =
      Map.of(
          Hook.PREROUTING, Stage.PREROUTING,
          Hook.OUTPUT, Stage.OUTPUT,
          Hook.POSTROUTING, Stage.POSTROUTING);

  /** Chains of kube-proxy for one service. */
  private static final List<String> OF_ONE_SERVICE =
      List.of("KUBE-SVC-", "KUBE-SEP-", "KUBE-SVL-", "KUBE-EXT-", "KUBE-FW-", "KUBE-XLB-");

  private static final List<String> OF_ONE_SERVICE_IN_NFT =
      List.of("service-", "external-", "firewall-");

  private final Kernel kernel = new Kernel();
  private final IptablesPrinter printer = new IptablesPrinter();
  private final Set<String> filledIpsets = new HashSet<>();
  private Map<Chain, Printed> printed = new HashMap<>();

  /** What iptables printed for rules; they are held without their counters. */
  private record Printed(List<List<Expression>> rules, List<String> lines) {}

  /** What to do with kube-proxy's rules for services, which are many. */
  enum Services {
    /** They are not read: packets to services are not meant. */
    LEFT_OUT,
    /** They are, up to where a packet gets another destination. */
    FOLLOWED
  }

  static boolean isOfOneService(String chain) {
    return OF_ONE_SERVICE.stream().anyMatch(chain::startsWith);
  }

  Hooks read(Family family, Neighbours.Ours ours, Services services, Links links) {
    while (true) {
      int before = filledIpsets.size();
      Hooks hooks = new Reading(family, ours, services, links).read();
      if (filledIpsets.size() == before) { // else rules read earlier may ask them
        return hooks;
      }
    }
  }

  @Override
  public void close() {
    kernel.close();
  }

  /** One reading. */
  private final class Reading {
    private final Family family;
    private final Neighbours.Ours ours;
    private final Services services;
    private final Links links;
    private final IptablesReader iptables;
    private final Map<Table, NftSets> sets = new HashMap<>();
    private final Map<Chain, Printed> stillPrinted = new HashMap<>();
    private final List<Base> bases = new ArrayList<>();
    private final List<Placed> rewriters = new ArrayList<>();
    private long unknownMarks;
    private int chainsLeft = MOST_CHAINS;
    private int rulesLeft = MOST_RULES;

    Reading(Family family, Neighbours.Ours ours, Services services, Links links) {
      this.family = family;
      this.ours = ours;
      this.services = services;
      this.links = links;
      this.iptables = new IptablesReader(kernel, family, links, filledIpsets);
    }

    Hooks read() {
      Optional<List<Table>> tables = kernel.nftables(it -> it.tables());
      Optional<List<Chain>> chains = kernel.nftables(it -> it.baseChains());
      if (tables.isEmpty() || chains.isEmpty()) {
        Place all = new Place("nf_tables", Stage.POSTROUTING, true, 0);
        bases.add(Base.unreadable(all, "the kernel did not list its rules"));
      }
      for (Chain chain : chains.orElse(List.of())) {
        if (concerns(chain) && !isDormant(chain, tables.orElse(List.of()))) {
          base(chain, chain.base().orElseThrow());
        }
      }
      for (String table : TABLES) {
        if (printer.hasLegacy(family, table)) {
          legacy(table);
        }
      }
      printed.keySet().removeIf(chain -> chain.family() == ipFamily()); // not the other family's
      printed.putAll(stillPrinted);
      return new Hooks(
          Hooks.inOrder(bases),
          unknownMarks,
          List.copyOf(rewriters),
          ours.policy(),
          links,
          iptables.asksIpsets());
    }

    private TableFamily ipFamily() {
      return family == Family.IPV4 ? TableFamily.IP : TableFamily.IP6;
    }

    private boolean concerns(Chain chain) {
      return switch (chain.family()) {
        case INET, NETDEV, BRIDGE -> true;
        case IP, IP6 -> chain.family() == ipFamily();
        case ARP -> false;
      };
    }

    /** The chains of a dormant table see no packets. */
    private static boolean isDormant(Chain chain, List<Table> tables) {
      return tables.stream()
          .anyMatch(
              table ->
                  table.family() == chain.family()
                      && table.name().equals(chain.table())
                      && table.flags().contains(Table.Flag.DORMANT));
    }

    private void base(Chain chain, Chain.BaseHook hook) {
      boolean onLink = chain.family() == TableFamily.NETDEV || chain.family() == TableFamily.BRIDGE;
      boolean nat = hook.type().equals("nat");
      boolean ofIptables =
          chain.family() == ipFamily()
              && TABLES.contains(chain.table())
              && chain.name().equals(hook.hook().name());
      String name =
          ofIptables
              ? "iptables-nft " + (nat ? "" : chain.table() + " ") + chain.name()
              : "table " + chain.family() + " " + chain.table() + " chain " + chain.name();
      boolean followed = !onLink && (nat || hook.priority() < 0) && STAGES.containsKey(hook.hook());
      Stage stage =
          followed ? STAGES.getOrDefault(hook.hook(), Stage.POSTROUTING) : Stage.POSTROUTING;
      if (!onLink && hook.hook() == Hook.INPUT) {
        return;
      }
      boolean last = followed && stage == Stage.POSTROUTING;
      if (isOfServices(chain) && !last && (services == Services.LEFT_OUT || !nat)) {
        return; // it marks packets to services, which are not meant
      }
      Place place = new Place(name, stage, nat, hook.priority());
      Optional<Step> own = own(chain);
      if (!followed) {
        scan(follow(place, chain.name(), false, it -> natively(place, chain, "", it)));
      } else if (own.isPresent()) {
        bases.add(Base.of(place, own.get(), "our own rules"));
      } else {
        bases.add(
            follow(
                place,
                chain.name(),
                hook.policy() == Chain.Policy.DROP,
                it -> ofIptables ? printed(place, chain, it) : natively(place, chain, "", it)));
      }
    }

    private static boolean isOfServices(Chain chain) {
      return chain.table().equals("kube-proxy");
    }

    /** What one of our own chains does; empty if it is not ours, or not for certain. */
    private Optional<Step> own(Chain chain) {
      boolean inOurs =
          ours.policy().isPresent()
              && ours.backend().equals("nftables")
              && chain.family() == TableFamily.INET
              && chain.table().equals(TableNames.TABLE.name());
      for (Family each : inOurs ? Family.values() : new Family[0]) {
        boolean same = each == family;
        if (chain.name().equals(TableNames.chain(each).name())) {
          return Optional.of(same ? Step.Verdict.OURS : Step.NOTHING);
        }
        if (chain.name().equals(TableNames.pin(each).name())) {
          return Optional.of(same ? Step.Verdict.PIN : Step.NOTHING);
        }
      }
      return Optional.empty(); // another program's, in our table
    }

    /** A base chain and the chains that it leads to. */
    private Base follow(
        Place place, String entry, boolean drops, Function<String, Optional<List<Rule>>> read) {
      Map<String, List<Rule>> chains = new HashMap<>();
      Set<String> seen = new HashSet<>();
      Deque<String> todo = new ArrayDeque<>(List.of(entry));
      while (!todo.isEmpty()) {
        String name = todo.poll();
        if (seen.add(name)) {
          read.apply(name)
              .ifPresent(
                  rules -> {
                    chains.put(name, rules);
                    rules.forEach(rule -> rule.targets().forEach(todo::add));
                  });
        }
      }
      return Base.of(place, entry, drops, chains);
    }

    /**
     * @param backend whose chain at nat postrouting may be ours
     */
    private Jumps jumps(Place place, String backend, boolean ofServices) {
      return (chain, noReturn) -> {
        boolean last = place.stage() == Stage.POSTROUTING;
        if (place.nat()
            && last
            && ours.policy().isPresent()
            && (ours.backend().equals(backend) || ours.backend().equals("iptables"))
            && !backend.isEmpty()
            && chain.equals(ours.chain())) {
          return Optional.of(Step.Verdict.OURS);
        }
        boolean service = !last && chain.startsWith("KUBE-") && !chain.equals("KUBE-MARK-MASQ");
        if (service && services == Services.LEFT_OUT) {
          return Optional.empty();
        }
        return Optional.of(
            service && isOfOneService(chain)
                    || ofServices
                        && !last
                        && OF_ONE_SERVICE_IN_NFT.stream().anyMatch(chain::startsWith)
                ? Step.Verdict.REDIRECT
                : new Step.Jump(chain, noReturn));
      };
    }

    private Optional<List<ipmasq.netlink.nftables.Rule>> rules(Chain chain) {
      if (chainsLeft-- <= 0) {
        return Optional.empty();
      }
      return kernel
          .head(it -> it.rules(chain, rulesLeft))
          .filter(Head::whole)
          .map(
              head -> {
                rulesLeft -= head.list().size();
                return head.list();
              });
    }

    private Optional<List<Rule>> natively(Place place, Chain base, String backend, String name) {
      Table table = new Table(base.family(), base.table());
      NftReader reader =
          new NftReader(
              kernel,
              family,
              sets.computeIfAbsent(table, it -> new NftSets(kernel, it)),
              place,
              links,
              jumps(place, backend, isOfServices(base)));
      return rules(new Chain(table, name)).map(it -> it.stream().map(reader::read).toList());
    }

    /** As iptables prints it; natively if it does not, or the rules changed meanwhile. */
    private Optional<List<Rule>> printed(Place place, Chain base, String name) {
      Chain chain = new Chain(new Table(base.family(), base.table()), name);
      Optional<List<ipmasq.netlink.nftables.Rule>> rules = rules(chain);
      if (rules.isEmpty()) {
        return Optional.empty();
      }
      List<List<Expression>> said =
          rules.get().stream()
              .map(
                  rule -> rule.expressions().stream().filter(e -> !(e instanceof Counter)).toList())
              .toList();
      Printed before = printed.get(chain);
      Printed now =
          before != null && before.rules.equals(said)
              ? before
              : new Printed(said, printer.nft(family, base.table(), name));
      if (now.lines.size() != said.size()) {
        return natively(place, base, "iptables-nft", name);
      }
      stillPrinted.put(chain, now);
      Set<String> targets = new HashSet<>();
      for (Expression each : said.stream().flatMap(List::stream).toList()) {
        if (each instanceof Verdict verdict) {
          targets.add(verdict.chain());
        }
      }
      Jumps jumps = jumps(place, "iptables-nft", false);
      return Optional.of(iptables.read(now.lines, place, targets::contains, jumps));
    }

    /** Of chains that are not followed: which marks their rules set, and whether they rewrite. */
    private void scan(Base base) {
      boolean whole =
          base.chains().containsKey(base.entry())
              && base.chains().values().stream()
                  .flatMap(List::stream)
                  .flatMap(Rule::targets)
                  .allMatch(base.chains()::containsKey);
      unknownMarks |= whole ? 0 : Step.Mark.ALL;
      base.chains().values().forEach(rules -> rules.forEach(rule -> scan(base.place(), rule)));
    }

    private void scan(Place place, Rule rule) {
      for (Step step : rule.steps()) {
        switch (step) {
          case Step.SetMark set -> unknownMarks |= set.xor() | set.unknown();
          case Step.Ask _ -> unknownMarks = Step.Mark.ALL;
          case Step.Unknown.PATH -> unknownMarks = Step.Mark.ALL;
          case Step.Unknown.ADDRESSES -> rewriters.add(new Placed(place, rule));
          default -> {
            if (step.equals(Step.In.NEVER)) {
              return;
            }
          }
        }
      }
    }

    /** The chains of a table of iptables-legacy. */
    private void legacy(String table) {
      Optional<IptablesPrinter.Legacy> read = printer.legacy(family, table);
      Map<String, List<String>> lines = read.map(IptablesPrinter.Legacy::lines).orElse(Map.of());
      if (table.equals("filter")) {
        Place place = new Place("iptables-legacy filter", Stage.POSTROUTING, false, 0);
        unknownMarks |= read.isEmpty() ? Step.Mark.ALL : 0;
        lines.values().stream()
            .flatMap(List::stream)
            .filter(line -> line.contains("MARK"))
            .map(line -> iptables.read(line, place, _ -> false, (_, _) -> Optional.empty()))
            .forEach(rule -> scan(place, rule));
        return;
      }
      for (Stage stage : Stage.values()) {
        boolean last = stage == Stage.POSTROUTING;
        boolean nat = table.equals("nat");
        int priority =
            nat && last ? Place.NF_IP_PRI_NAT_SRC : PRIORITIES.get(TABLES.indexOf(table));
        String name = "iptables-legacy " + (nat ? "" : table + " ") + stage;
        Place place = new Place(name, stage, nat, priority);
        Jumps jumps = jumps(place, "iptables-legacy", false);
        Predicate<String> isChain = lines::containsKey;
        if (last && table.equals("raw")) {
          continue;
        }
        bases.add(
            read.isEmpty()
                ? Base.unreadable(place, "rules of iptables-legacy, which could not be listed")
                : follow(
                    place,
                    stage.name(),
                    read.get().dropping().contains(stage.name()),
                    chain ->
                        Optional.ofNullable(lines.get(chain))
                            .map(all -> iptables.read(all, place, isChain, jumps))));
      }
    }
  }
}
