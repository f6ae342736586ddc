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
import ipmasq.sync.Target;
import ipmasq.sync.Targets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
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
  private final Set<String> chains = new LinkedHashSet<>();
  private final LegacyWatch legacy = new LegacyWatch();
  private @Nullable RulesWatch watch;
  private String iptablesFault = "";
  private int iptablesFailures;
  private boolean kubeProxyNftables;
  private boolean nftables;
  private @Nullable IptablesBackend iptables;
  private String chain = "";
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

  private Backends(NftablesBackend table, CniFiles files, boolean everyName) {
    this.table = table;
    this.cni = new CniBackend(files.config(), files.keepExtra());
    this.everyName = everyName;
  }

  /** For a process that keeps the rules. */
  public static Backends owning(CniFiles files) {
    return new Backends(NftablesBackend.owning(), files, false);
  }

  /** For a process that looks, and goes. */
  public static Backends withoutOwner(CniFiles files) {
    return new Backends(NftablesBackend.withoutOwner(), files, false);
  }

  /** For a process that removes rules: of the config's chain, or of every name of an agent's. */
  public static Backends removing(CniFiles files, boolean everyName) {
    return new Backends(NftablesBackend.withoutOwner(), files, everyName);
  }

  /**
   * Passes on this node.
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

  /** Probed at each pass, because kube-proxy may start after us. Never switches back. */
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
    if (!key.equals(last)) {
      target = target(key);
      last = key;
    }
    return Objects.requireNonNull(target);
  }

  private Target target(TargetKey key) {
    IptablesBackend ours = iptables(key.chain);
    List<String> names = ours.chains();
    return switch (key.choice.backend()) {
      case NFTABLES ->
          new Target(
              table,
              key.choice.reason(),
              new BothWatch(watch(RulesWatch.ofOwnTable(names)), legacy, () -> false),
              List.of(ours, ours.other()));
      case CNI -> new Target(cni, key.choice.reason(), cni.watch(), List.of());
      case AUTO -> throw new AssertionError("a choice is made");
      case IPTABLES -> {
        List<Family> families = key.ipv6 ? List.of(Family.IPV4, Family.IPV6) : List.of(Family.IPV4);
        Watch nft = watch(RulesWatch.ofIptables(families, names));
        yield new Target(
            ours,
            key.choice.reason(),
            new BothWatch(nft, legacy, ours::isLegacy),
            List.of(table, ours.other()));
      }
    };
  }

  /** Replaces the previous one. */
  private Watch watch(RulesWatch next) {
    if (watch != null) {
      watch.close();
    }
    watch = next;
    return next;
  }

  /** Where rules of this config may be: first where they belong. */
  public List<Backend> places(Config config) {
    Target at = target(look(), config);
    return Stream.concat(Stream.of(at.backend()), at.others().stream()).toList();
  }

  /** The config with the backend of this name, whatever it leaves open. */
  public static Config fixed(Config config, String backend) {
    return config.with(
        Key.BACKEND,
        switch (backend) {
          case "nftables" -> BackendChoice.NFTABLES;
          case "cni" -> BackendChoice.CNI;
          default -> BackendChoice.IPTABLES;
        });
  }

  /** How long the iptables that is running may take, if one is. Any thread may ask. */
  public Optional<Duration> waiting() {
    return waiting.get();
  }

  /** Every backend that may hold rules of this agent. */
  public List<Backend> all(Config config) {
    if (WINDOWS || config.backend() == BackendChoice.CNI) {
      return List.of(cni);
    }
    IptablesBackend ours = iptables(config.masqChain());
    return List.of(ours, ours.other(), table);
  }

  /** After a change of the chain's name, the earlier names are known to be ours. */
  private IptablesBackend iptables(String name) {
    IptablesBackend known = iptables;
    if (known == null || !chain.equals(name)) {
      if (known != null) {
        known.close();
      }
      known = IptablesBackend.ofNode(name, chains, everyName, waiting::set);
      iptables = known;
      chain = name;
      chains.add(name);
    }
    return known;
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
