package ipmasq.cli;

import ipmasq.backend.Backend;
import ipmasq.backend.Choice;
import ipmasq.backend.Chosen;
import ipmasq.backend.Watch;
import ipmasq.backend.cni.CniBackend;
import ipmasq.backend.iptables.Iptables;
import ipmasq.backend.nftables.KubeProxy;
import ipmasq.backend.nftables.OwnTable;
import ipmasq.backend.nftables.RulesWatch;
import ipmasq.config.Config;
import ipmasq.config.Config.BackendChoice;
import ipmasq.net.Family;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Makes backends and keeps them: each holds what it learned of the node, and the nftables one holds
 * its table. Used by one thread.
 */
final class Backends implements AutoCloseable {
  /** How often iptables may fail from the start before it counts as one that cannot work. */
  private static final int PATIENCE = 3;

  /** A pass asks more than once, and is to get one answer. */
  private static final long ASK_AGAIN_NANOS = 100_000_000;

  private final OwnTable table;
  private final KubeProxy kubeProxy;
  private final CniBackend cni;
  private final Map<String, Iptables> byChain = new HashMap<>();
  private final Map<Object, RulesWatch> watches = new HashMap<>();
  private @Nullable Choice auto;
  private long asked;

  private Backends(OwnTable table, Settings.Cni cni) {
    this.table = table;
    this.kubeProxy = new KubeProxy(table);
    this.cni = new CniBackend(cni.config(), cni.addPolicy(), cni.keepExtra());
  }

  /** For a process that keeps the rules. */
  static Backends held(Settings settings) {
    return new Backends(OwnTable.held(), settings.cni());
  }

  /** For a process that looks, and goes. */
  static Backends visited(Settings settings) {
    return new Backends(OwnTable.visited(), settings.cni());
  }

  /** The backend for a config. */
  Chosen forConfig(Config config) {
    Choice choice = choice(config);
    return switch (choice.backend()) {
      case NFTABLES -> new Chosen(table, choice.reason(), tableWatch(), List.of(iptables(config)));
      case CNI -> new Chosen(cni, choice.reason(), Watch.NONE, List.of());
      case IPTABLES ->
          new Chosen(iptables(config), choice.reason(), chainWatch(config), List.of(table));
    };
  }

  private Choice choice(Config config) {
    return switch (config.backend()) {
      case IPTABLES -> Choice.told(Choice.Which.IPTABLES);
      case NFTABLES -> Choice.told(Choice.Which.NFTABLES);
      case CNI -> Choice.told(Choice.Which.CNI);
      case AUTO ->
          Settings.Cni.isDefault()
              ? new Choice(Choice.Which.CNI, "it is the way on Windows")
              : auto(config);
    };
  }

  /**
   * Asked again and again while the answer is iptables: kube-proxy may start after us. Once it is
   * nftables it stays so, for to go back and forth helps nobody.
   */
  private Choice auto(Config config) {
    Choice choice = auto;
    long now = System.nanoTime();
    if (choice == null
        || choice.backend() == Choice.Which.IPTABLES && now - asked > ASK_AGAIN_NANOS) {
      asked = now;
      Iptables iptables = iptables(config);
      choice =
          Choice.of(
              new Choice.Signs(
                  kubeProxy.usesNftables(),
                  iptables.isInstalled(),
                  iptables.failures() < PATIENCE,
                  table::works));
      auto = choice;
    }
    return choice;
  }

  /** What {@code auto} stands for on this node; asked only where nothing else was said. */
  BackendChoice auto(Settings settings) {
    Config base = settings.config();
    boolean told = base.backend() != BackendChoice.AUTO;
    return told ? base.backend() : BackendChoice.valueOf(choice(base).backend().name());
  }

  /** Every backend that may have rules of ours. */
  List<Backend> all(Config config) {
    return choice(config).backend() == Choice.Which.CNI
        ? List.of(cni)
        : List.of(iptables(config), table);
  }

  private Iptables iptables(Config config) {
    return byChain.computeIfAbsent(config.masqChain(), Iptables::ofNode);
  }

  private Watch tableWatch() {
    return watches.computeIfAbsent(table, _ -> RulesWatch.ofOwnTable());
  }

  private Watch chainWatch(Config config) {
    List<Family> families =
        config.enableIpv6() ? List.of(Family.IPV4, Family.IPV6) : List.of(Family.IPV4);
    RulesWatch nft =
        watches.computeIfAbsent(
            List.of(families, config.masqChain()),
            _ -> RulesWatch.ofIptables(families, config.masqChain()));
    Iptables iptables = iptables(config);
    return iptables.isLegacy() ? Watch.NONE : new ChainWatch(iptables, nft);
  }

  /** Which iptables it is, is known only once it has looked; of the legacy one nothing is told. */
  private record ChainWatch(Iptables iptables, RulesWatch nft) implements Watch {
    @Override
    public Optional<Object> mark() {
      return iptables.isLegacy() ? Optional.empty() : nft.mark();
    }
  }

  /** Gives up the table, for the next process to adopt. */
  @Override
  public void close() {
    table.close();
    watches.values().forEach(RulesWatch::close);
  }
}
