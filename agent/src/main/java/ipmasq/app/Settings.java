package ipmasq.app;

import ipmasq.config.Config;
import ipmasq.config.ConfigPaths;
import ipmasq.config.ConfigPaths.IfMissing;
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
 * @param flows whether a plan looks at the flows under way too
 * @param ports whether the status is about ports
 * @param ifMissing what a missing file means
 * @param from the source of the packets to explain
 * @param via the interface by which the packets to explain leave
 * @param protocol the protocol of the packets to explain
 * @param port the port to which they go
 * @param hold whether a cleanup waits when it is done
 * @param traceTime how long to wait for flows to trace
 * @param flowSamples whether new flows are sampled
 * @param stateDir where the last good config is kept
 * @param ignoredFlags the given flags that have no effect here
 */
public record Settings(
    FlagDefaults flags,
    Map<Key<?>, String> origins,
    List<Path> configs,
    IfMissing ifMissing,
    boolean json,
    boolean flows,
    boolean ports,
    Format logFormat,
    int verbosity,
    boolean cleanupOnExit,
    boolean dryRun,
    boolean hold,
    Duration watchInterval,
    Optional<InetSocketAddress> listen,
    boolean flowSamples,
    Path stateDir,
    Cni cni,
    Optional<Ip> from,
    Optional<String> via,
    Optional<String> protocol,
    OptionalInt port,
    Duration traceTime,
    List<String> ignoredFlags) {

  /**
   * The settings of the cni backend.
   *
   * @param config a file, or a directory of them
   */
  public record Cni(Path config, boolean keepExtra) {
    private static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");
    public static final String USUAL =
        WINDOWS ? "C:\\Program Files\\containerd\\cni\\conf" : "/etc/cni/net.d";

    /** Whether this is a Windows node, which has no other backend. */
    public static boolean isWindows() {
      return WINDOWS;
    }
  }

  /** Whether the command line names the files. */
  public boolean configGiven() {
    return ifMissing == IfMissing.ERROR;
  }

  /** Whether a flag names the chain. */
  public boolean namesChain() {
    return flags.fixed().contains(Key.MASQ_CHAIN);
  }

  public ConfigPaths paths() {
    return new ConfigPaths(configs, ifMissing);
  }

  /** The config before the file applies. */
  public Config config() {
    return flags.config();
  }
}
