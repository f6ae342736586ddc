package ipmasq.cli;

import ipmasq.app.Settings;
import ipmasq.config.Config;
import ipmasq.config.FlagDefaults;
import ipmasq.config.Key;
import ipmasq.http.Listen;
import ipmasq.log.Log.Format;
import ipmasq.net.GoDuration;
import ipmasq.net.Ip;
import ipmasq.net.Protocols;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Reads the settings from a command line: every value valid, or one line that says what is wrong.
 */
final class SettingsParser {
  private static final Duration SHORTEST_WATCH = Duration.ofMillis(10);
  private static final Path CONFIG = Path.of("/etc/config/ip-masq-agent");

  private SettingsParser() {}

  /** The result of parsing. */
  sealed interface ParsedSettings {
    record GoodSettings(Settings settings) implements ParsedSettings {}

    record WrongSettings(String message) implements ParsedSettings {}
  }

  static ParsedSettings of(CommandLine line) {
    Optional<String> wrong =
        configs(line)
            .or(() -> watchInterval(line))
            .or(() -> listen(line))
            .or(() -> from(line))
            .or(() -> protocol(line))
            .or(() -> textOrJson(line, Flag.OUTPUT))
            .or(() -> textOrJson(line, Flag.LOG_FORMAT));
    if (wrong.isPresent()) {
      return new ParsedSettings.WrongSettings(wrong.get());
    }
    FlagDefaults flags = FlagDefaults.none();
    Map<Key<?>, String> origins = new LinkedHashMap<>();
    if (line.isOn(Flag.ALL_RESERVED, false)) {
      flags = flags.with(Key.NON_MASQUERADE_CIDRS, Config.RESERVED, false);
      origins.put(Key.NON_MASQUERADE_CIDRS, Flag.ALL_RESERVED);
    }
    for (Key<?> key : Key.ALL) {
      Optional<String> flag = key.flag().map(Key.KeyFlag::name);
      Optional<String> text = flag.flatMap(line::text);
      if (text.isPresent()) {
        switch (key.given(text.get(), flags)) {
          case Key.GivenFlag.As(var more) -> {
            flags = more;
            origins.put(key, flag.get());
          }
          case Key.GivenFlag.WrongValue(var reason) -> {
            return new ParsedSettings.WrongSettings("--" + flag.get() + ": " + reason);
          }
        }
      }
    }
    boolean fromFlag = flags.fixed().contains(Key.BACKEND);
    String backend = Key.BACKEND.json(flags.config().backend()).toString();
    Optional<String> idle = fromFlag ? Settings.idle(line.cniFlags(), backend) : Optional.empty();
    if (idle.isPresent()) {
      return new ParsedSettings.WrongSettings(idle.get());
    }
    List<Path> configs = line.list(Flag.CONFIG).stream().map(Path::of).toList();
    return new ParsedSettings.GoodSettings(
        new Settings(
            flags,
            origins,
            configs.isEmpty() ? List.of(CONFIG) : configs,
            !configs.isEmpty(),
            line.text(Flag.OUTPUT).orElse("text").equals("json"),
            line.isOn(Flag.STRICT, false),
            line.text(Flag.LOG_FORMAT).orElse("text").equals("json") ? Format.JSON : Format.TEXT,
            line.number(Flag.VERBOSITY, 0),
            line.isOn(Flag.CLEANUP_ON_EXIT, false),
            line.isOn(Flag.DRY_RUN, false),
            watch(line),
            line.text(Flag.LISTEN).flatMap(Listen::parse),
            line.isOn(Flag.FLOW_SAMPLES, true),
            new Settings.Cni(
                Path.of(line.text(Flag.CNI_CONFIG).orElse(Settings.Cni.USUAL)),
                line.isOn(Flag.CNI_ADD_POLICY, false),
                line.isOn(Flag.CNI_KEEP_EXTRA, false)),
            line.text(Flag.FROM).flatMap(Ip::parse),
            line.text(Flag.VIA),
            line.text(Flag.PROTO),
            line.has(Flag.PORT) ? OptionalInt.of(line.number(Flag.PORT, 0)) : OptionalInt.empty(),
            line.cniFlags(),
            line.ignored()));
  }

  private static Optional<String> configs(CommandLine line) {
    return line.list(Flag.CONFIG).contains("")
        ? Optional.of("--config needs a path: --config=PATH")
        : Optional.empty();
  }

  private static Optional<String> watchInterval(CommandLine line) {
    return line.text(Flag.WATCH_INTERVAL)
        .flatMap(
            text ->
                switch (GoDuration.parse(text)) {
                  case GoDuration.ParsedDuration.MalformedDuration(var reason) ->
                      Optional.of("--watch-interval: " + reason + "; write 500ms, or 0 for never");
                  case GoDuration.ParsedDuration.Value(var value) ->
                      value.isZero() || value.compareTo(SHORTEST_WATCH) >= 0
                          ? Optional.empty()
                          : Optional.of("--watch-interval: 0, or at least 10ms, not " + text);
                });
  }

  private static Duration watch(CommandLine line) {
    return switch (GoDuration.parse(line.text(Flag.WATCH_INTERVAL).orElse("1s"))) {
      case GoDuration.ParsedDuration.Value(var value) -> value;
      case GoDuration.ParsedDuration.MalformedDuration _ ->
          throw new IllegalStateException("checked before");
    };
  }

  private static Optional<String> listen(CommandLine line) {
    return line.text(Flag.LISTEN)
        .filter(text -> Listen.parse(text).isEmpty())
        .map(
            text ->
                "--listen is ADDRESS:PORT, such as 127.0.0.1:9090, [::1]:9090, or :9090 for every"
                    + " address of the node, not \""
                    + text
                    + "\"");
  }

  private static Optional<String> protocol(CommandLine line) {
    return line.text(Flag.PROTO)
        .filter(text -> !Protocols.ASKED.contains(text))
        .map(text -> "--proto is one of tcp, udp, sctp and icmp, not \"" + text + "\"")
        .or(
            () ->
                line.text(Flag.PORT)
                    .filter(_ -> line.number(Flag.PORT, 0) < 1 || line.number(Flag.PORT, 0) > 65535)
                    .map(text -> "--port is a number from 1 to 65535, not " + text));
  }

  private static Optional<String> from(CommandLine line) {
    return line.text(Flag.FROM)
        .filter(text -> Ip.parse(text).isEmpty())
        .map(text -> "--from is an IP address, not \"" + text + "\"");
  }

  private static Optional<String> textOrJson(CommandLine line, String flag) {
    return line.text(flag)
        .filter(format -> !format.equals("text") && !format.equals("json"))
        .map(format -> "--" + flag + " is text or json, not \"" + format + "\"");
  }
}
