package ipmasq.cli;

import ipmasq.config.Key;
import ipmasq.http.Listen;
import ipmasq.net.GoDuration;
import ipmasq.net.Ip;
import ipmasq.net.Protocols;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A flag that the command line knows: the only place to describe a new one, unless it decides a key
 * of the config file.
 *
 * @param name without dashes
 * @param value how its value is called in the help; empty for a switch
 * @param help one line; empty for one that the help leaves out
 * @param form the values that it takes
 */
record Flag(String name, String value, String help, Form form) {
  /**
   * @param is the values, in words
   */
  private record Form(Predicate<String> fits, String is) {}

  private static final Form ANY = new Form(_ -> true, "");
  private static final Form SWITCH =
      new Form(text -> isTrue(text) || isFalse(text), "true or false");
  private static final Form NUMBER = new Form(text -> number(text).isPresent(), "a whole number");
  private static final Form TEXT_OR_JSON =
      new Form(List.of("text", "json")::contains, "text or json");

  static final Flag CONFIG =
      new Flag(
          "config",
          "PATH",
          "the config file (default /etc/config/ip-masq-agent)",
          new Form(text -> !text.isEmpty(), "the path of a file or a directory"));
  static final Flag ALL_RESERVED =
      ofSwitch(
          "nomasq-all-reserved-ranges",
          "without a list in the file, exempt all reserved IPv4 ranges, not just RFC 1918's");
  static final Flag CNI_CONFIG =
      new Flag(
          "cni-config",
          "PATH",
          "with --backend=cni: the CNI config, or the directory of them, whose list to keep",
          ANY);
  static final Flag CNI_KEEP_EXTRA =
      ofSwitch("cni-keep-extra", "with --backend=cni: keep entries that people put into the list");
  static final Flag WATCH_INTERVAL =
      new Flag(
          "watch-interval",
          "DURATION",
          "how often to check whether another program changed the rules; 0 never (default 1s)",
          new Form(
              text -> duration(text).filter(it -> it.isZero() || it.toMillis() >= 10).isPresent(),
              "0 for never, or a duration of at least 10ms, such as 500ms"));
  static final Flag CLEANUP_ON_EXIT = ofSwitch("cleanup-on-exit", "remove the rules when stopped");
  static final Flag DRY_RUN = ofSwitch("dry-run", "write nothing, and report what would change");
  static final Flag HOLD =
      ofSwitch("hold", "when nothing is left, wait for SIGTERM instead of ending");
  static final Flag LISTEN =
      new Flag(
          "listen",
          "ADDRESS:PORT",
          "where to serve health, metrics and a page, such as 127.0.0.1:9090 (default: nowhere)",
          new Form(
              text -> Listen.parse(text).isPresent(),
              "ADDRESS:PORT, such as 127.0.0.1:9090, [::1]:9090, or :9090 for every address of"
                  + " the node"));
  static final Flag FLOW_SAMPLES =
      ofSwitch(
          "flow-samples",
          "compare one second of new flows with the config, every half minute (default true)");
  static final Flag STATE_DIR =
      new Flag(
          "state-dir",
          "PATH",
          "an existing folder for the last good config (default /var/lib/ip-masq-agent)",
          ANY);
  static final Flag FROM =
      new Flag(
          "from",
          "ADDRESS",
          "packets with this source",
          new Form(text -> Ip.parse(text).isPresent(), "an IP address"));
  static final Flag VIA =
      new Flag("via", "INTERFACE", "explain packets that leave by this interface", ANY);
  static final Flag PROTO =
      new Flag(
          "proto",
          "tcp|udp|sctp|icmp",
          "packets of this protocol",
          new Form(Protocols.ASKED::contains, "one of tcp, udp, sctp and icmp"));
  static final Flag PORT =
      new Flag(
          "port",
          "N",
          "packets to this port",
          new Form(
              text -> number(text).filter(port -> port > 0 && port < 65_536).isPresent(),
              "a number from 1 to 65535"));
  static final Flag PORTS =
      ofSwitch("ports", "say instead how many source ports masquerading has left");
  static final Flag FOR =
      new Flag(
          "for",
          "DURATION",
          "how long to wait for flows (default 10s)",
          new Form(
              text -> duration(text).filter(Flag::isTraceTime).isPresent(),
              "a duration of at most 10m, such as 30s"));
  static final Flag FLOWS =
      ofSwitch(
          "flows",
          "also say which flows under way would leave with another source if they began now");
  static final Flag OUTPUT =
      new Flag(
          "output", "text|json", "the form of the answer, also as -o (default text)", TEXT_OR_JSON);
  static final Flag LOG_FORMAT =
      new Flag("log-format", "text|json", "the form of the log (default text)", TEXT_OR_JSON);
  static final Flag VERBOSITY =
      new Flag(
          "v", "N", "how much to log: 0 changes and problems, 1 each repair, 2 each sync", NUMBER);
  static final Flag VERSION = ofSwitch("version", "print the version and exit");
  static final Flag HELP = ofSwitch("help", "print this and exit");

  /** Those that give defaults for keys of the file, or override them. */
  static final List<Flag> DEFAULTS =
      Stream.concat(
              Stream.of(ALL_RESERVED),
              Key.ALL.stream().flatMap(key -> key.flag().stream()).map(Flag::ofKey))
          .toList();

  /** Those that decide which rules a node has, and where. */
  static final List<Flag> RULES =
      Stream.of(List.of(CONFIG), DEFAULTS, List.of(CNI_CONFIG, CNI_KEEP_EXTRA))
          .flatMap(List::stream)
          .toList();

  /** Those of klog, accepted without effect because existing manifests have them. */
  static final List<Flag> KLOG =
      Stream.concat(
              Stream.of(
                      "logtostderr",
                      "alsologtostderr",
                      "one_output",
                      "add_dir_header",
                      "skip_headers",
                      "skip_log_headers")
                  .map(name -> ofSwitch(name, "")),
              Stream.of(
                      "stderrthreshold",
                      "vmodule",
                      "log_dir",
                      "log_file",
                      "log_file_max_size",
                      "log_backtrace_at")
                  .map(name -> new Flag(name, "VALUE", "", ANY)))
          .toList();

  /** In the order in which the help lists them. */
  static final List<Flag> ALL =
      Stream.of(
              RULES,
              List.of(WATCH_INTERVAL, CLEANUP_ON_EXIT, DRY_RUN, HOLD, LISTEN, FLOW_SAMPLES),
              List.of(STATE_DIR, FROM, VIA, PROTO, PORT, PORTS, FOR, FLOWS, OUTPUT, LOG_FORMAT),
              List.of(VERBOSITY, VERSION, HELP),
              KLOG)
          .flatMap(List::stream)
          .toList();

  private static Flag ofSwitch(String name, String help) {
    return new Flag(name, "", help, SWITCH);
  }

  private static Flag ofKey(Key.KeyFlag flag) {
    return new Flag(flag.name(), flag.value(), flag.help(), flag.value().isEmpty() ? SWITCH : ANY);
  }

  /** Whether a bare {@code --name} is complete, so that the next word is not its value. */
  boolean isSwitch() {
    return value.isEmpty();
  }

  /** What is wrong with a value. */
  Optional<String> complaint(String text) {
    return form.fits.test(text)
        ? Optional.empty()
        : Optional.of("%s is %s, not \"%s\"".formatted(this, form.is, text));
  }

  static Optional<Flag> named(String name) {
    String full =
        switch (name) {
          case "h" -> HELP.name;
          case "o" -> OUTPUT.name;
          default -> name;
        };
    return ALL.stream().filter(flag -> flag.name.equals(full)).findFirst();
  }

  /** The flag that decides a key. */
  static Optional<Flag> of(Key<?> key) {
    return key.flag().flatMap(flag -> named(flag.name()));
  }

  static boolean isTrue(String text) {
    return List.of("1", "t", "T", "true", "TRUE", "True").contains(text);
  }

  private static boolean isFalse(String text) {
    return List.of("0", "f", "F", "false", "FALSE", "False").contains(text);
  }

  static Optional<Integer> number(String text) {
    try {
      return Optional.of(Integer.decode(text));
    } catch (NumberFormatException notOne) {
      return Optional.empty();
    }
  }

  static Optional<Duration> duration(String text) {
    return GoDuration.parse(text) instanceof GoDuration.Parsed.Valid(var value)
        ? Optional.of(value)
        : Optional.empty();
  }

  private static boolean isTraceTime(Duration time) {
    return time.isPositive() && time.compareTo(Duration.ofMinutes(10)) <= 0;
  }

  @Override
  public String toString() {
    return "--" + name;
  }
}
