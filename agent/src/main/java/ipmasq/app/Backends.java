package ipmasq.app;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Watch;
import ipmasq.backend.conntrack.KernelFlows;
import ipmasq.backend.iptables.IptablesBackend;
import ipmasq.backend.iptables.LegacyWatch;
import ipmasq.backend.nftables.NftablesBackend;
import ipmasq.backend.nftables.RulesWatch;
import ipmasq.cni.CniBackend;
import ipmasq.config.Config;
import ipmasq.config.Config.BackendChoice;
import ipmasq.config.Key;
import ipmasq.config.Reading;
import ipmasq.net.Family;
import ipmasq.sync.EffectiveConfig;
import ipmasq.sync.Host;
import ipmasq.sync.Node;
import ipmasq.sync.Sync;
import ipmasq.sync.Targets;
import ipmasq.sync.Targets.Target;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The node and its backends. Backends are created once and kept: each caches what it learned, and
 * the nftables one owns its table. Used by one thread.
 */
public final class Backends implements Targets, AutoCloseable {
  /** Windows nodes have only the cni backend. */
  static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");

  /** How often iptables may fail from the start before it counts as unusable. */
  private static final int PATIENCE = 3;

  private final NftablesBackend table;
  private final CniBackend cni;
  private final boolean everyName;
  private final LinkedHashSet<String> chains = new LinkedHashSet<>(); // the latest last
  private final LegacyWatch legacy = new LegacyWatch();
  private @Nullable RulesWatch watch;
  private String iptablesFault = "";
  private int iptablesFailures;
  private boolean kubeProxyNftables;
  private boolean nftables;
  private @Nullable IptablesBackend iptables;
  private final AtomicReference<Optional<Duration>> waiting =
      new AtomicReference<>(Optional.empty());
  private @Nullable TargetKey last;
  private @Nullable Target target;

  /**
   * The files of the cni backend.
   *
   * @param config a file, or a directory of them
   */
  public record CniFiles(Path config, boolean keepExtra) {
    public static final Path USUAL =
        Path.of(WINDOWS ? "C:\\Program Files\\containerd\\cni\\conf" : "/etc/cni/net.d");
  }

  /** What a target depends on. */
  private record TargetKey(Node.BackendDecision choice, String chain, boolean ipv6) {}

  /**
   * @param owns whether this process keeps the rules, rather than looks and goes
   * @param everyName whether chains of every name of an agent's are ours, or only the config's
   */
  public Backends(CniFiles files, boolean owns, boolean everyName) {
    this.table = owns ? NftablesBackend.owning() : NftablesBackend.withoutOwner();
    this.cni = new CniBackend(files.config(), files.keepExtra());
    this.everyName = everyName;
  }

  /**
   * Syncs on this node.
   *
   * @param file reads the config file
   * @param fallback the config if the file is bad from the start
   * @param writes whether they write rules, or only plan them
   * @param lastGood may put an earlier config in force instead
   */
  public Sync sync(
      Function<Node, Reading> file,
      Config fallback,
      boolean writes,
      UnaryOperator<EffectiveConfig> lastGood) {
    Host host = new Host(NodeAddresses::all, new KernelFlows());
    return new Sync(file, fallback, this, host, Clock.systemUTC(), writes, lastGood);
  }

  /** Probed at each sync, because kube-proxy may start after us. Never switches back. */
  @Override
  public Node look() {
    if (!WINDOWS) {
      if (iptablesFault.isEmpty() && iptables == null && !IptablesBackend.isInstalled()) {
        iptablesFault = "there is none on PATH";
      }
      kubeProxyNftables = kubeProxyNftables || table.hasKubeProxy();
      nftables = nftables || !iptablesFault.isEmpty() && table.works();
    }
    return new Node(WINDOWS, kubeProxyNftables, iptablesFault, nftables);
  }

  @Override
  public boolean ruledOut(Target target, Failure why) {
    if (!(target.backend() instanceof IptablesBackend failing) || !iptablesFault.isEmpty()) {
      return false;
    }
    iptablesFailures++;
    // A backend that worked once stays usable: running out of descriptors or memory does not change
    // the node.
    boolean hopeless = !failing.worked() && iptablesFailures >= PATIENCE;
    if (why.lasting() || hopeless) {
      iptablesFault = why.message().split(";", 2)[0]; // a sentence, not all that it printed
      return true;
    }
    return false;
  }

  @Override
  public Target target(Node node, Config config) {
    TargetKey key =
        new TargetKey(node.choose(config.backend()), config.masqChain(), config.enableIpv6());
    if (target == null || !key.equals(last)) {
      target = target(key);
      last = key;
    }
    return target;
  }

  private Target target(TargetKey key) {
    IptablesBackend ours = iptables(key.chain);
    String reason = key.choice.reason();
    if (watch != null) {
      watch.close();
      watch = null;
    }
    return switch (key.choice.backend()) {
      case NFTABLES -> {
        watch = RulesWatch.ofOwnTable(ours.chains());
        yield new Target(
            table, reason, new BothWatch(watch, legacy, () -> false), List.of(ours, ours.other()));
      }
      case IPTABLES -> {
        List<Family> families = key.ipv6 ? List.of(Family.values()) : List.of(Family.IPV4);
        watch = RulesWatch.ofIptables(families, ours.chains());
        yield new Target(
            ours,
            reason,
            new BothWatch(watch, legacy, ours::isLegacy),
            List.of(table, ours.other()));
      }
      case CNI -> new Target(cni, reason, cni.watch(), List.of());
      case AUTO -> throw new AssertionError("a choice is made");
    };
  }

  /** Where rules of this config may be: first where they belong. */
  public List<Backend> places(Config config) {
    Target at = target(look(), config);
    return Stream.concat(Stream.of(at.backend()), at.others().stream()).toList();
  }

  /** The config with the backend of this name, whatever it leaves open. */
  public static Config fixed(Config config, String backend) {
    BackendChoice choice =
        backend.equals("nftables")
            ? BackendChoice.NFTABLES
            : backend.equals("cni") ? BackendChoice.CNI : BackendChoice.IPTABLES;
    return config.with(Key.BACKEND, choice);
  }

  /** How long the iptables that is running may take, if one is. Any thread may ask. */
  public Optional<Duration> waiting() {
    return waiting.get();
  }

  /** A chain that an earlier process of this agent kept is ours; to be called before any sync. */
  public void hadChain(String name) {
    chains.add(name);
  }

  /** Every backend that may hold rules of this agent. */
  public List<Backend> all(Config config) {
    if (WINDOWS || config.backend() == BackendChoice.CNI) {
      return List.of(cni);
    }
    IptablesBackend ours = iptables(config.masqChain());
    return List.of(ours, ours.other(), table);
  }

  /** Earlier names of the chain are known to be ours. */
  private IptablesBackend iptables(String name) {
    if (iptables == null || !chains.getLast().equals(name)) {
      if (iptables != null) {
        iptables.close();
      }
      iptables = IptablesBackend.ofNode(name, chains, everyName, waiting::set);
      chains.remove(name);
      chains.addLast(name);
    }
    return iptables;
  }

  /**
   * Watches nf_tables and iptables-legacy, since the kernel runs both: the one with our rules, and
   * the other in case an older agent's rules appear there.
   *
   * @param inLegacy where ours are; known after the first look
   */
  private record BothWatch(Watch nft, Watch legacy, BooleanSupplier inLegacy) implements Watch {
    @Override
    public Optional<Object> fingerprint() {
      return both(nft.fingerprint(), legacy.fingerprint());
    }

    @Override
    public Optional<Object> freshFingerprint() {
      return both(nft.freshFingerprint(), legacy.freshFingerprint());
    }

    /** Unknown if that of our own rules is. */
    private Optional<Object> both(Optional<Object> ofNft, Optional<Object> ofLegacy) {
      Optional<Object> ours = inLegacy.getAsBoolean() ? ofLegacy : ofNft;
      return ours.map(_ -> List.of(ofNft, ofLegacy));
    }
  }

  /** Releases the table for the next process to adopt. */
  @Override
  public void close() {
    table.close();
    if (watch != null) {
      watch.close();
    }
    if (iptables != null) {
      iptables.close();
    }
  }
}
