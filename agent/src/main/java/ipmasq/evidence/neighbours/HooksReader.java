package ipmasq.evidence.neighbours;

import ipmasq.backend.nftables.TableNames;
import ipmasq.evidence.neighbours.Rule.Base;
import ipmasq.evidence.neighbours.Rule.Hooks;
import ipmasq.evidence.neighbours.Rule.Place;
import ipmasq.evidence.neighbours.Rule.Placed;
import ipmasq.evidence.neighbours.Rule.Stage;
import ipmasq.net.Family;
import ipmasq.net.ForeignText;
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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads the chains that packets pass, ours and other programs'. Used by one thread.
 *
 * <p>Rules of nf_tables come from the kernel. Those of iptables, of either kind, are what iptables
 * itself prints; of iptables-nft, only chains whose rules changed are printed again.
 */
final class HooksReader implements AutoCloseable {
  private static final int MOST_CHAINS = 1000;
  private static final int MOST_RULES = 10_000;
  private static final int NF_IP_PRI_FILTER = 0;
  private static final Set<String> TABLES_OF_IPTABLES = Set.of("raw", "mangle", "nat", "filter");

  private final Kernel kernel = new Kernel();
  private final IptablesPrinter printer = new IptablesPrinter();
  private Map<Chain, Printed> printed = new HashMap<>();
  private boolean readIpsets;

  /** What iptables printed for rules; they are held without their counters. */
  private record Printed(List<List<Expression>> rules, List<String> lines) {}

  /** What to do with kube-proxy's rules for services, which are many. */
  enum Services {
    /** They are not read: packets to services are not meant. */
    LEFT_OUT,
    /** They are, up to where a packet gets another destination. */
    FOLLOWED;

    private static final List<String> OF_ONE_SERVICE =
        List.of("KUBE-SVC-", "KUBE-SEP-", "KUBE-SVL-", "KUBE-EXT-", "KUBE-FW-", "KUBE-XLB-");
    private static final List<String> OF_ONE_SERVICE_IN_NFT =
        List.of("service-", "external-", "firewall-");

    /** What a jump to a chain of kube-proxy does; empty: it is followed. */
    Optional<Step> jump(Stage stage, String chain) {
      boolean ofServices = chain.startsWith("KUBE-") && !chain.equals("KUBE-MARK-MASQ");
      if (stage == Stage.POSTROUTING || !ofServices) {
        return Optional.empty();
      }
      if (this == LEFT_OUT) {
        return Optional.of(new Step.Continue());
      }
      return OF_ONE_SERVICE.stream().anyMatch(chain::startsWith)
          ? Optional.of(new Step.Redirect())
          : Optional.empty();
    }

    private static boolean isOfOneInNft(String chain) {
      return OF_ONE_SERVICE_IN_NFT.stream().anyMatch(chain::startsWith);
    }
  }

  Hooks read(Family family, Neighbours.Ours ours, Services services) {
    return new Reading(family, ours, services).read();
  }

  /** Whether the last reading met a rule that asks an ipset. */
  boolean readIpsets() {
    return readIpsets;
  }

  Kernel kernel() {
    return kernel;
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
    private final IptablesReader iptables;
    private final Map<Table, NftSets> sets = new HashMap<>();
    private final Map<Chain, Printed> stillPrinted = new HashMap<>();
    private final List<Runnable> toRead =
        new ArrayList<>(); // once all sets that rules fill are known
    private final List<Base> bases = new ArrayList<>();
    private final List<Placed> rewriters = new ArrayList<>();
    private long unknownMarks;
    private int chainsLeft = MOST_CHAINS;
    private int rulesLeft = MOST_RULES;

    Reading(Family family, Neighbours.Ours ours, Services services) {
      this.family = family;
      this.ours = ours;
      this.services = services;
      this.iptables = new IptablesReader(kernel, family);
    }

    Hooks read() {
      Optional<List<Table>> tables = kernel.nftables(it -> it.tables());
      Optional<List<Chain>> chains = kernel.nftables(it -> it.baseChains());
      if (tables.isEmpty() || chains.isEmpty()) {
        Place all = new Place("nf_tables", Stage.POSTROUTING, true, 0);
        bases.add(Base.unreadable(all, "the kernel did not list its rules to us"));
      }
      for (Chain chain : chains.orElse(List.of())) {
        if (concerns(chain) && !isDormant(chain, tables.orElse(List.of()))) {
          base(chain, chain.base().orElseThrow());
        }
      }
      printer.legacy(family).forEach(this::legacy);
      toRead.forEach(Runnable::run);
      Map<Chain, Printed> others = new HashMap<>(printed); // the other family's
      others.keySet().removeIf(chain -> chain.family() == ipFamily());
      others.putAll(stillPrinted);
      printed = others;
      readIpsets = iptables.readIpsets();
      return new Hooks(bases, unknownMarks, rewriters, ours.policy());
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
      Optional<Stage> stage =
          onLink
              ? Optional.empty()
              : switch (hook.hook()) {
                case PREROUTING -> Optional.of(Stage.PREROUTING);
                case OUTPUT -> Optional.of(Stage.OUTPUT);
                case POSTROUTING -> Optional.of(Stage.POSTROUTING);
                case INGRESS, INPUT, FORWARD, EGRESS -> Optional.empty();
              };
      boolean nat = hook.type().equals("nat");
      boolean ofIptables =
          chain.family() == ipFamily()
              && TABLES_OF_IPTABLES.contains(chain.table())
              && chain.name().equals(hook.hook().name());
      String name =
          ofIptables
              ? "iptables-nft " + (nat ? "" : chain.table() + " ") + chain.name()
              : "table " + chain.family() + " " + chain.table() + " chain " + chain.name();
      if (!onLink && hook.hook() == Hook.INPUT) {
        return;
      }
      boolean ofServices =
          chain.table().equals("kube-proxy") && !stage.equals(Optional.of(Stage.POSTROUTING));
      if (ofServices && (services == Services.LEFT_OUT || !nat)) {
        return; // it marks packets to services, which are not meant
      }
      if (stage.isEmpty() || !nat && hook.priority() >= NF_IP_PRI_FILTER) {
        scan(name, chain);
        return;
      }
      Place place = new Place(name, stage.get(), nat, hook.priority());
      Optional<Step> own = own(chain);
      if (own.isPresent()) {
        Rule rule = new Rule(List.of(own.get()), "our own rules");
        bases.add(new Base(place, "", false, Map.of("", List.of(rule))));
      } else {
        walked(place, chain, hook.policy() == Chain.Policy.DROP, ofIptables);
      }
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
          return Optional.of(same ? new Step.Ours() : new Step.Continue());
        }
        if (chain.name().equals(TableNames.pin(each).name())) {
          return Optional.of(same ? new Step.Pin() : new Step.Continue());
        }
      }
      return Optional.empty(); // another program's, in our table
    }

    /** A base chain that is followed, and the chains that it leads to. */
    private void walked(Place place, Chain base, boolean drops, boolean ofIptables) {
      Map<String, List<Rule>> read = new HashMap<>();
      Deque<String> todo = new ArrayDeque<>(List.of(base.name()));
      while (!todo.isEmpty() && chainsLeft > 0) {
        String name = todo.poll();
        if (read.containsKey(name)) {
          continue;
        }
        Optional<List<ipmasq.netlink.nftables.Rule>> rules = rules(base, name);
        if (rules.isEmpty()) {
          continue;
        }
        read.put(name, List.of());
        Optional<List<String>> lines =
            ofIptables ? lines(base, name, rules.get()) : Optional.empty();
        if (lines.isPresent()) {
          Set<String> targets = Set.copyOf(targets(rules.get()));
          lines.get().forEach(iptables::fill);
          targets.stream()
              .filter(to -> jump(place, "iptables-nft", to).isEmpty())
              .forEach(todo::add);
          toRead.add(
              () ->
                  read.put(
                      name, lines.get().stream().map(line -> rule(place, line, targets)).toList()));
        } else {
          List<Rule> here = natively(base, place.stage(), rules.get());
          here.forEach(rule -> rule.target().ifPresent(todo::add));
          read.put(name, here);
        }
      }
      toRead.add(() -> bases.add(new Base(place, base.name(), drops, read)));
    }

    private Rule rule(Place place, String line, Set<String> targets) {
      return iptables.read(
          line,
          name ->
              targets.contains(name)
                  ? Optional.of(jump(place, "iptables-nft", name).orElse(new Step.Jump(name)))
                  : Optional.empty());
    }

    /** What a jump to a chain of iptables does, if it is not followed. */
    private Optional<Step> jump(Place place, String variant, String chain) {
      boolean here = ours.backend().equals(variant) || ours.backend().equals("iptables");
      return place.nat()
              && place.stage() == Stage.POSTROUTING
              && ours.policy().isPresent()
              && here
              && chain.equals(ours.chain())
          ? Optional.of(new Step.Ours())
          : services.jump(place.stage(), chain);
    }

    private Optional<List<ipmasq.netlink.nftables.Rule>> rules(Chain base, String name) {
      Chain chain = new Chain(new Table(base.family(), base.table()), name);
      chainsLeft--;
      Optional<Head<ipmasq.netlink.nftables.Rule>> head =
          kernel.head(it -> it.rules(chain, rulesLeft));
      if (head.isEmpty() || !head.get().whole()) {
        return Optional.empty();
      }
      rulesLeft -= head.get().list().size();
      return Optional.of(head.get().list());
    }

    private static List<String> targets(List<ipmasq.netlink.nftables.Rule> rules) {
      List<String> targets = new ArrayList<>();
      for (ipmasq.netlink.nftables.Rule rule : rules) {
        for (Expression expression : rule.expressions()) {
          if (expression instanceof Verdict verdict && !verdict.chain().isEmpty()) {
            targets.add(verdict.chain());
          }
        }
      }
      return targets;
    }

    /** What iptables prints for these rules; empty if it does not, or they changed meanwhile. */
    private Optional<List<String>> lines(
        Chain base, String name, List<ipmasq.netlink.nftables.Rule> rules) {
      Chain chain = new Chain(new Table(base.family(), base.table()), name);
      List<List<Expression>> said =
          rules.stream()
              .map(
                  rule -> rule.expressions().stream().filter(e -> !(e instanceof Counter)).toList())
              .toList();
      Printed before = printed.get(chain);
      Printed now =
          before != null && before.rules.equals(said)
              ? before
              : new Printed(said, printer.nft(family, base.table(), name));
      if (now.lines.size() != rules.size()) {
        return Optional.empty();
      }
      stillPrinted.put(chain, now);
      return Optional.of(now.lines);
    }

    private List<Rule> natively(Chain base, Stage stage, List<ipmasq.netlink.nftables.Rule> rules) {
      Table table = new Table(base.family(), base.table());
      NftReader reader =
          new NftReader(kernel, family, sets.computeIfAbsent(table, it -> new NftSets(kernel, it)));
      boolean ofServices = base.table().equals("kube-proxy") && stage != Stage.POSTROUTING;
      List<Rule> read = new ArrayList<>();
      for (ipmasq.netlink.nftables.Rule rule : rules) {
        for (Rule each : reader.read(rule)) {
          boolean service = ofServices && each.target().filter(Services::isOfOneInNft).isPresent();
          read.add(service ? each.ending(new Step.Redirect()) : each);
        }
      }
      return read;
    }

    /** Of a chain that is not followed: which marks its rules set, and whether they rewrite. */
    private void scan(String name, Chain base) {
      Map<String, Boolean> seen = new HashMap<>();
      Deque<String> todo = new ArrayDeque<>(List.of(base.name()));
      while (!todo.isEmpty()) {
        String chain = todo.poll();
        if (seen.putIfAbsent(chain, true) != null) {
          continue;
        }
        Optional<List<ipmasq.netlink.nftables.Rule>> rules = rules(base, chain);
        if (rules.isEmpty()) {
          unknownMarks = 0xffff_ffffL;
          continue;
        }
        for (Rule rule : natively(base, Stage.PREROUTING, rules.get())) {
          rule.target().ifPresent(todo::add);
          scan(name, rule);
        }
      }
    }

    private void scan(String name, Rule rule) {
      for (Step step : rule.steps()) {
        if (step instanceof Step.SetMark set) {
          unknownMarks |= set.xor() | set.unknown();
        } else if (step instanceof Step.Unknown(var _, var effect)) {
          unknownMarks |= effect == Step.Effect.PATH ? 0xffff_ffffL : 0;
          if (effect == Step.Effect.ADDRESSES) {
            rewriters.add(new Placed(new ForeignText(name), false, rule));
          }
        } else if (step instanceof Step.Ask) {
          unknownMarks = 0xffff_ffffL;
        }
      }
    }

    /** The chains of a table of iptables-legacy. */
    private void legacy(IptablesPrinter.Saved table) {
      for (IptablesPrinter.BuiltIn builtIn : table.chains(family)) {
        Place place = builtIn.place();
        if (table.name().equals("filter") && !builtIn.readable()) {
          unknownMarks = 0xffff_ffffL;
        } else if (!builtIn.readable()) {
          bases.add(
              Base.unreadable(place, "rules of iptables-legacy, which nobody here could list"));
        } else if (table.name().equals("filter")) {
          table.lines().values().stream()
              .flatMap(List::stream)
              .filter(line -> line.contains("MARK"))
              .forEach(
                  line -> scan(place.name().text(), iptables.read(line, _ -> Optional.empty())));
          return;
        } else {
          table.lines().values().forEach(lines -> lines.forEach(iptables::fill));
          toRead.add(() -> bases.add(legacy(place, table, builtIn)));
        }
      }
    }

    private Base legacy(Place place, IptablesPrinter.Saved table, IptablesPrinter.BuiltIn builtIn) {
      Map<String, List<Rule>> read = new HashMap<>();
      Deque<String> todo = new ArrayDeque<>(List.of(builtIn.entry()));
      while (!todo.isEmpty()) {
        String name = todo.poll();
        List<String> lines = table.lines().get(name);
        if (lines == null || read.containsKey(name)) {
          continue;
        }
        List<Rule> rules =
            lines.stream()
                .map(
                    line ->
                        iptables.read(
                            line,
                            to ->
                                table.isChain(to)
                                    ? Optional.of(
                                        jump(place, "iptables-legacy", to)
                                            .orElse(new Step.Jump(to)))
                                    : Optional.empty()))
                .toList();
        read.put(name, rules);
        rules.forEach(rule -> rule.target().ifPresent(todo::add));
      }
      return new Base(place, builtIn.entry(), builtIn.drops(), read);
    }
  }
}
