package ipmasq.cli;

import ipmasq.app.Settings;
import ipmasq.config.Config;
import ipmasq.config.ConfigPaths.IfMissing;
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
import java.util.Set;
import java.util.function.Predicate;

/**
 * Reads the settings from a command line: every value valid, or one line that says what is wrong.
 */
final class SettingsParser {
  private static final Duration SHORTEST_WATCH = Duration.ofMillis(10);
  private static final Duration LONGEST_TRACE = Duration.ofMinutes(10);
  private static final Path STATE = Path.of("/var/lib/ip-masq-agent");
  private static final Path CONFIG = Path.of("/etc/config/ip-masq-agent");
  private static final Set<String> FORMATS = Set.of("text", "json");

  private SettingsParser() {}

  /** The result of parsing. */
  sealed interface ParsedSettings {
    record GoodSettings(Settings settings) implements ParsedSettings {}

    record WrongSettings(String message) implements ParsedSettings {}
  }

  /**
   * A flag whose value must be of a form.
   *
   * @param is what it is, in words
   */
  private record Form(String flag, Predicate<String> fits, String is) {}

  private static final List<Form> FORMS =
      List.of(
          new Form(Flag.CONFIG, text -> !text.isEmpty(), "the path of a file or a directory"),
          new Form(
              Flag.WATCH_INTERVAL,
              text -> watch(text).isPresent(),
              "0 for never, or a duration of at least 10ms, such as 500ms"),
          new Form(
              Flag.LISTEN,
              text -> Listen.parse(text).isPresent(),
              "ADDRESS:PORT, such as 127.0.0.1:9090, [::1]:9090, or :9090 for every address of"
                  + " the node"),
          new Form(
              Flag.FOR,
              text -> traceTime(text).isPresent(),
              "a duration of at most 10m, such as 30s"),
          new Form(Flag.FROM, text -> Ip.parse(text).isPresent(), "an IP address"),
          new Form(Flag.PROTO, Protocols.ASKED::contains, "one of tcp, udp, sctp and icmp"),
          new Form(
              Flag.PORT,
              text -> Integer.decode(text) > 0 && Integer.decode(text) < 65_536,
              "a number from 1 to 65535"),
          new Form(Flag.OUTPUT, FORMATS::contains, "text or json"),
          new Form(Flag.LOG_FORMAT, FORMATS::contains, "text or json"));

  /**
   * @param ifMissing what it means if a file that the command line names is missing
   */
  static ParsedSettings of(CommandLine line, IfMissing ifMissing) {
    for (Form form : FORMS) {
      for (String text : line.list(form.flag)) {
        if (!form.fits.test(text)) {
          return new ParsedSettings.WrongSettings(
              "--%s is %s, not \"%s\"".formatted(form.flag, form.is, text));
        }
      }
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
    String backend = Key.BACKEND.json(flags.config().backend()).toString();
    List<String> cni = line.cniFlags();
    if (flags.fixed().contains(Key.BACKEND) && !cni.isEmpty() && !backend.equals("cni")) {
      return new ParsedSettings.WrongSettings(
          String.join(", ", cni) + " without effect: the backend is " + backend + ", not cni");
    }
    List<Path> configs = line.list(Flag.CONFIG).stream().map(Path::of).toList();
    return new ParsedSettings.GoodSettings(
        new Settings(
            flags,
            origins,
            configs.isEmpty() ? List.of(CONFIG) : configs,
            configs.isEmpty() ? IfMissing.DEFAULTS : ifMissing,
            isJson(line, Flag.OUTPUT),
            line.isOn(Flag.FLOWS, false),
            line.isOn(Flag.PORTS, false),
            isJson(line, Flag.LOG_FORMAT) ? Format.JSON : Format.TEXT,
            line.number(Flag.VERBOSITY, 0),
            line.isOn(Flag.CLEANUP_ON_EXIT, false),
            line.isOn(Flag.DRY_RUN, false),
            line.isOn(Flag.HOLD, false),
            line.text(Flag.WATCH_INTERVAL)
                .flatMap(SettingsParser::watch)
                .orElse(Duration.ofSeconds(1)),
            line.text(Flag.LISTEN).flatMap(Listen::parse),
            line.isOn(Flag.FLOW_SAMPLES, true),
            line.text(Flag.STATE_DIR).map(Path::of).orElse(STATE),
            new Settings.Cni(
                Path.of(line.text(Flag.CNI_CONFIG).orElse(Settings.Cni.USUAL)),
                line.isOn(Flag.CNI_KEEP_EXTRA, false)),
            line.text(Flag.FROM).flatMap(Ip::parse),
            line.text(Flag.VIA),
            line.text(Flag.PROTO),
            line.has(Flag.PORT) ? OptionalInt.of(line.number(Flag.PORT, 0)) : OptionalInt.empty(),
            line.text(Flag.FOR).flatMap(SettingsParser::traceTime).orElse(Duration.ofSeconds(10)),
            line.ignored()));
  }

  private static boolean isJson(CommandLine line, String flag) {
    return line.text(flag).filter("json"::equals).isPresent();
  }

  private static Optional<Duration> traceTime(String text) {
    return GoDuration.parse(text) instanceof GoDuration.Parsed.Valid(var value)
            && value.isPositive()
            && value.compareTo(LONGEST_TRACE) <= 0
        ? Optional.of(value)
        : Optional.empty();
  }

  private static Optional<Duration> watch(String text) {
    return GoDuration.parse(text) instanceof GoDuration.Parsed.Valid(var value)
            && (value.isZero() || value.compareTo(SHORTEST_WATCH) >= 0)
        ? Optional.of(value)
        : Optional.empty();
  }
}
