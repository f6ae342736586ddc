package ipmasq.app;

import ipmasq.config.Config;
import ipmasq.config.ConfigPaths;
import ipmasq.config.FlagDefaults;
import ipmasq.config.Key;
import ipmasq.log.Log.Format;
import ipmasq.net.Ip;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The values of the flags, all valid.
 *
 * @param flags the config before the file applies
 * @param origins the flag that gives the default of a key, by the key
 * @param configs the files to read
 * @param strict whether a warning fails a check
 * @param configGiven whether the command line named them
 * @param from the source of the packets to explain
 * @param via the interface by which the packets to explain leave
 * @param protocol the protocol of the packets to explain
 * @param port the port to which they go
 * @param flowSamples whether new flows are sampled
 * @param cniFlags the given flags that only the cni backend uses
 */
public record Settings(
    FlagDefaults flags,
    Map<Key<?>, String> origins,
    List<Path> configs,
    boolean configGiven,
    boolean json,
    boolean strict,
    Format logFormat,
    int verbosity,
    boolean cleanupOnExit,
    boolean dryRun,
    Duration watchInterval,
    Optional<InetSocketAddress> listen,
    boolean flowSamples,
    Cni cni,
    Optional<Ip> from,
    Optional<String> via,
    Optional<String> protocol,
    OptionalInt port,
    List<String> cniFlags,
    List<String> ignoredFlags) {

  /**
   * The settings of the cni backend.
   *
   * @param config a file, or a directory of them
   */
  public record Cni(Path config, boolean addPolicy, boolean keepExtra) {
    private static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");
    public static final String USUAL =
        WINDOWS ? "C:\\Program Files\\containerd\\cni\\conf" : "/etc/cni/net.d";

    /** Whether this is a Windows node, which has no other backend. */
    public static boolean isWindows() {
      return WINDOWS;
    }
  }

  /** Flags that have no effect with a backend; empty if there are none. */
  public Optional<String> idle(String backend) {
    return idle(cniFlags, backend);
  }

  public static Optional<String> idle(List<String> cniFlags, String backend) {
    boolean cni = backend.equals("cni") || backend.equals("auto") && Cni.isWindows();
    return cni || cniFlags.isEmpty()
        ? Optional.empty()
        : Optional.of(
            String.join(", ", cniFlags)
                + " without effect: the backend is "
                + backend
                + ", not cni");
  }

  /** Whether a flag names the chain. */
  public boolean namesChain() {
    return flags.fixed().contains(Key.MASQ_CHAIN);
  }

  /** The files to read; a missing default file is fine. */
  public ConfigPaths paths(ConfigPaths.IfMissing ifNamed) {
    return new ConfigPaths(configs, configGiven ? ifNamed : ConfigPaths.IfMissing.DEFAULTS);
  }

  /** The same with other files in place of the default one; they were not named here. */
  public Settings reading(List<Path> files) {
    return new Settings(
        flags,
        origins,
        files,
        false,
        json,
        strict,
        logFormat,
        verbosity,
        cleanupOnExit,
        dryRun,
        watchInterval,
        listen,
        flowSamples,
        cni,
        from,
        via,
        protocol,
        port,
        cniFlags,
        ignoredFlags);
  }

  /** The config before the file applies. */
  public Config config() {
    return flags.config();
  }
}
