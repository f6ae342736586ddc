package ipmasq.cli;

import ipmasq.config.Base;
import ipmasq.config.ChainName;
import ipmasq.config.Config;
import ipmasq.config.ConfigReader;
import ipmasq.config.Draft;
import ipmasq.config.Key;
import ipmasq.config.Reading;
import ipmasq.config.ToPorts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * What the flags say, every value valid.
 *
 * @param base the config before the file has spoken, and what the file may not change
 * @param configs the files to read
 * @param configGiven whether the command line named them
 */
record Settings(
    Base base,
    List<Path> configs,
    boolean configGiven,
    boolean json,
    int verbosity,
    boolean cleanupOnExit,
    List<String> ignoredFlags) {
  private static final Path CONFIG = Path.of("/etc/config/ip-masq-agent");

  /** What came of reading them. */
  sealed interface Parsed {
    record Good(Settings settings) implements Parsed {}

    record Wrong(String message) implements Parsed {}
  }

  static Parsed of(CommandLine line) {
    Draft draft = Config.defaults().draft();
    Set<Key<?>> fixed = new HashSet<>();
    Optional<String> wrong =
        ports(line, draft, fixed)
            .or(() -> chain(line, draft, fixed))
            .or(() -> interval(line, draft))
            .or(() -> output(line));
    if (wrong.isPresent()) {
      return new Parsed.Wrong(wrong.get());
    }
    if (line.isOn(Flag.ALL_RESERVED, false)) {
      draft.nonMasqueradeCidrs(Config.RESERVED);
    }
    if (line.has(Flag.ENABLE_IPV6)) {
      draft.enableIpv6(line.isOn(Flag.ENABLE_IPV6, false));
      fixed.add(Key.ENABLE_IPV6);
    }
    if (line.has(Flag.RANDOM_FULLY)) {
      draft.randomFully(line.isOn(Flag.RANDOM_FULLY, true));
      fixed.add(Key.RANDOM_FULLY);
    }
    List<Path> configs = line.list(Flag.CONFIG).stream().map(Path::of).toList();
    return new Parsed.Good(
        new Settings(
            new Base(draft.config(), fixed, OptionalInt.of(Config.DEFAULT_CIDR_LIMIT)),
            configs.isEmpty() ? List.of(CONFIG) : configs,
            !configs.isEmpty(),
            line.text(Flag.OUTPUT).orElse("text").equals("json"),
            line.number(Flag.VERBOSITY, 0),
            line.isOn(Flag.CLEANUP_ON_EXIT, false),
            line.ignored()));
  }

  private static Optional<String> ports(CommandLine line, Draft draft, Set<Key<?>> fixed) {
    return line.text(Flag.TO_PORTS)
        .flatMap(
            text ->
                switch (ToPorts.parse(text)) {
                  case ToPorts.Parsed.Malformed(var reason) -> Optional.of("--to-ports: " + reason);
                  case ToPorts.Parsed.Ranges(var ranges) -> {
                    draft.toPorts(ranges);
                    fixed.add(Key.TO_PORTS);
                    yield Optional.empty();
                  }
                });
  }

  private static Optional<String> chain(CommandLine line, Draft draft, Set<Key<?>> fixed) {
    return line.text(Flag.MASQ_CHAIN)
        .flatMap(
            text ->
                switch (ChainName.parse(text)) {
                  case ChainName.Parsed.Malformed(var reason) ->
                      Optional.of("--masq-chain: " + reason);
                  case ChainName.Parsed.Name(var name) -> {
                    draft.masqChain(name);
                    fixed.add(Key.MASQ_CHAIN);
                    yield Optional.empty();
                  }
                });
  }

  /** Not fixed: in the agent that has this flag, the file's own interval goes before it. */
  private static Optional<String> interval(CommandLine line, Draft draft) {
    int seconds = line.number(Flag.RESYNC_INTERVAL, 60);
    if (seconds < 1) {
      return Optional.of("--resync-interval: at least 1 second, not " + seconds);
    }
    draft.resyncInterval(Duration.ofSeconds(seconds));
    return Optional.empty();
  }

  private static Optional<String> output(CommandLine line) {
    return line.text(Flag.OUTPUT)
        .filter(format -> !format.equals("text") && !format.equals("json"))
        .map(format -> "--output is text or json, not \"" + format + "\"");
  }

  Reading read() {
    return ConfigReader.read(configs, base);
  }

  Reading read(Path file) {
    return ConfigReader.read(List.of(file), base);
  }
}
