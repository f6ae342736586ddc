package ipmasq.cli;

import ipmasq.app.Backends;
import ipmasq.cli.CommandLine.Parsed;
import ipmasq.config.Config;
import ipmasq.config.ConfigPaths;
import ipmasq.config.ConfigPaths.IfMissing;
import ipmasq.config.FlagDefaults;
import ipmasq.config.Key;
import ipmasq.http.Listen;
import ipmasq.net.Ip;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What the flags of a command line mean.
 *
 * @param flags the config before the file applies
 * @param ifMissing what a missing file means
 */
record Settings(CommandLine line, FlagDefaults flags, IfMissing ifMissing) {
  private static final String CONFIG = "/etc/config/ip-masq-agent";

  /**
   * @param ifMissing what it means if a file that the command line names is missing
   */
  static Parsed<Settings> of(CommandLine line, IfMissing ifMissing) {
    FlagDefaults flags = FlagDefaults.none();
    if (line.isOn(Flag.ALL_RESERVED)) {
      flags = flags.with(Key.NON_MASQUERADE_CIDRS, Config.RESERVED, false);
    }
    for (Key<?> key : Key.ALL) {
      Optional<Flag> flag = Flag.of(key);
      Optional<String> text = flag.flatMap(line::text);
      if (text.isPresent()) {
        switch (key.given(text.get(), flags)) {
          case Key.GivenFlag.As(var more) -> flags = more;
          case Key.GivenFlag.WrongValue(var reason) -> {
            return new Parsed.Wrong<>(flag.get() + ": " + reason);
          }
        }
      }
    }
    String backend = Key.BACKEND.json(flags.config().backend()).toString();
    List<String> cni =
        line.flags().keySet().stream()
            .filter(flag -> flag.equals(Flag.CNI_CONFIG) || flag.equals(Flag.CNI_KEEP_EXTRA))
            .map(Flag::toString)
            .toList();
    if (line.has(Key.BACKEND) && !cni.isEmpty() && !backend.equals("cni")) {
      return new Parsed.Wrong<>(
          String.join(", ", cni) + " without effect: the backend is " + backend + ", not cni");
    }
    return new Parsed.Good<>(
        new Settings(line, flags, line.has(Flag.CONFIG) ? ifMissing : IfMissing.DEFAULTS));
  }

  /** The config before the file applies. */
  Config config() {
    return flags.config();
  }

  /** Whether the command line names the files. */
  boolean configGiven() {
    return ifMissing == IfMissing.ERROR;
  }

  /** The files to read. */
  ConfigPaths paths() {
    List<String> given = line.has(Flag.CONFIG) ? line.list(Flag.CONFIG) : List.of(CONFIG);
    return new ConfigPaths(given.stream().map(Path::of).toList(), ifMissing);
  }

  Backends.CniFiles cni() {
    return new Backends.CniFiles(
        line.text(Flag.CNI_CONFIG).map(Path::of).orElse(Backends.CniFiles.USUAL),
        line.isOn(Flag.CNI_KEEP_EXTRA));
  }

  boolean dryRun() {
    return line.isOn(Flag.DRY_RUN);
  }

  Optional<InetSocketAddress> listen() {
    return line.text(Flag.LISTEN).flatMap(Listen::parse);
  }

  /** The source of the packets to explain or trace. */
  Optional<Ip> from() {
    return line.text(Flag.FROM).flatMap(Ip::parse);
  }

  /** The interface by which they leave. */
  Optional<String> via() {
    return line.text(Flag.VIA);
  }

  Optional<String> protocol() {
    return line.text(Flag.PROTO);
  }

  /** The port to which they go. */
  OptionalInt port() {
    return line.number(Flag.PORT).map(OptionalInt::of).orElse(OptionalInt.empty());
  }

  /** How long to wait for flows to trace. */
  Duration traceTime() {
    return line.duration(Flag.FOR, Duration.ofSeconds(10));
  }
}
