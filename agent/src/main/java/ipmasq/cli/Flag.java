package ipmasq.cli;

import ipmasq.config.Key;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A flag that the command line knows.
 *
 * @param name without dashes
 * @param kind what values it takes
 * @param value how its value is called in the help; null for one that is left out there
 * @param help one line
 */
record Flag(String name, Kind kind, @Nullable String value, String help) {
  enum Kind {
    /** True or false; bare means true. */
    SWITCH,
    /** Any text; given twice, the last counts. */
    TEXT,
    /** Any text; may be given several times, and all count. */
    LIST,
    /** A whole number. */
    NUMBER,
    /** Accepted because existing manifests have it, without effect; takes a value. */
    IGNORED,
    /** The same, but a switch: a bare one takes no value. */
    IGNORED_SWITCH
  }

  /** The purpose of a flag, which decides which commands take it. */
  enum Subject {
    /** Defaults for keys of the file, or overrides of them. */
    DEFAULTS,
    /** Which files are read and kept. */
    PLACES,
    /** A klog flag without effect here. */
    KLOG,
    /** How some commands work. */
    COMMAND
  }

  static final String CONFIG = "config";
  static final String ALL_RESERVED = "nomasq-all-reserved-ranges";
  static final String CNI_CONFIG = "cni-config";
  static final String CNI_KEEP_EXTRA = "cni-keep-extra";
  static final String WATCH_INTERVAL = "watch-interval";
  static final String CLEANUP_ON_EXIT = "cleanup-on-exit";
  static final String DRY_RUN = "dry-run";
  static final String HOLD = "hold";
  static final String LISTEN = "listen";
  static final String FLOW_SAMPLES = "flow-samples";
  static final String STATE_DIR = "state-dir";
  static final String FROM = "from";
  static final String VIA = "via";
  static final String PROTO = "proto";
  static final String PORT = "port";
  static final String FLOWS = "flows";
  static final String FOR = "for";
  static final String PORTS = "ports";
  static final String OUTPUT = "output";
  static final String LOG_FORMAT = "log-format";
  static final String VERBOSITY = "v";
  static final String VERSION = "version";
  static final String HELP = "help";

  /** In the order in which the help lists them; those that decide a key of the file come first. */
  static final List<Flag> ALL =
      Stream.of(
              List.of(
                  new Flag(
                      CONFIG,
                      Kind.LIST,
                      "PATH",
                      "the config file (default /etc/config/ip-masq-agent)"),
                  new Flag(
                      ALL_RESERVED,
                      Kind.SWITCH,
                      "",
                      "without a list in the file, exempt all reserved IPv4 ranges, not just RFC"
                          + " 1918's")),
              ofKeys(),
              others())
          .flatMap(List::stream)
          .toList();

  private static List<Flag> ofKeys() {
    return Key.ALL.stream()
        .flatMap(key -> key.flag().stream())
        .map(
            flag ->
                new Flag(
                    flag.name(),
                    flag.value().isEmpty() ? Kind.SWITCH : Kind.TEXT,
                    flag.value(),
                    flag.help()))
        .toList();
  }

  private static List<Flag> others() {
    return List.of(
        new Flag(
            CNI_CONFIG,
            Kind.TEXT,
            "PATH",
            "with --backend=cni: the CNI config, or the directory of them, whose list to keep"),
        new Flag(
            CNI_KEEP_EXTRA,
            Kind.SWITCH,
            "",
            "with --backend=cni: keep entries that people put into the list"),
        new Flag(
            WATCH_INTERVAL,
            Kind.TEXT,
            "DURATION",
            "how often to check whether another program changed the rules; 0 never (default 1s)"),
        new Flag(CLEANUP_ON_EXIT, Kind.SWITCH, "", "remove the rules when stopped"),
        new Flag(DRY_RUN, Kind.SWITCH, "", "write nothing, and report what would change"),
        new Flag(HOLD, Kind.SWITCH, "", "when nothing is left, wait for SIGTERM instead of ending"),
        new Flag(
            LISTEN,
            Kind.TEXT,
            "ADDRESS:PORT",
            "where to serve health, metrics and a page, such as 127.0.0.1:9090 (default: nowhere)"),
        new Flag(
            FLOW_SAMPLES,
            Kind.SWITCH,
            "",
            "compare one second of new flows with the config, every half minute (default true)"),
        new Flag(
            STATE_DIR,
            Kind.TEXT,
            "PATH",
            "an existing folder for the last good config (default /var/lib/ip-masq-agent)"),
        new Flag(FROM, Kind.TEXT, "ADDRESS", "packets with this source"),
        new Flag(VIA, Kind.TEXT, "INTERFACE", "explain packets that leave by this interface"),
        new Flag(PROTO, Kind.TEXT, "tcp|udp|sctp|icmp", "packets of this protocol"),
        new Flag(PORT, Kind.NUMBER, "N", "packets to this port"),
        new Flag(PORTS, Kind.SWITCH, "", "say instead how many source ports masquerading has left"),
        new Flag(FOR, Kind.TEXT, "DURATION", "how long to wait for flows (default 10s)"),
        new Flag(
            FLOWS,
            Kind.SWITCH,
            "",
            "also say which flows under way would leave with another source if they began now"),
        new Flag(
            OUTPUT, Kind.TEXT, "text|json", "the form of the answer, also as -o (default text)"),
        new Flag(LOG_FORMAT, Kind.TEXT, "text|json", "the form of the log (default text)"),
        new Flag(
            VERBOSITY,
            Kind.NUMBER,
            "N",
            "how much to log: 0 changes and problems, 1 each repair, 2 each sync"),
        new Flag(VERSION, Kind.SWITCH, "", "print the version and exit"),
        new Flag(HELP, Kind.SWITCH, "", "print this and exit"),
        new Flag("logtostderr", Kind.IGNORED_SWITCH, null, ""),
        new Flag("alsologtostderr", Kind.IGNORED_SWITCH, null, ""),
        new Flag("one_output", Kind.IGNORED_SWITCH, null, ""),
        new Flag("add_dir_header", Kind.IGNORED_SWITCH, null, ""),
        new Flag("skip_headers", Kind.IGNORED_SWITCH, null, ""),
        new Flag("skip_log_headers", Kind.IGNORED_SWITCH, null, ""),
        new Flag("stderrthreshold", Kind.IGNORED, null, ""),
        new Flag("vmodule", Kind.IGNORED, null, ""),
        new Flag("log_dir", Kind.IGNORED, null, ""),
        new Flag("log_file", Kind.IGNORED, null, ""),
        new Flag("log_file_max_size", Kind.IGNORED, null, ""),
        new Flag("log_backtrace_at", Kind.IGNORED, null, ""));
  }

  /** Whether a bare {@code --name} is complete, so that the next word is not its value. */
  boolean standsAlone() {
    return kind == Kind.SWITCH || kind == Kind.IGNORED_SWITCH;
  }

  boolean isHelp() {
    return name.equals(HELP);
  }

  Subject subject() {
    if (kind == Kind.IGNORED || kind == Kind.IGNORED_SWITCH) {
      return Subject.KLOG;
    }
    if (name.equals(CONFIG) || isCni()) {
      return Subject.PLACES;
    }
    boolean ofKey =
        Key.ALL.stream().flatMap(key -> key.flag().stream()).anyMatch(f -> f.name().equals(name));
    return ofKey || name.equals(ALL_RESERVED) ? Subject.DEFAULTS : Subject.COMMAND;
  }

  /** Whether only the cni backend uses it. */
  boolean isCni() {
    return name.startsWith("cni-");
  }

  static @Nullable Flag named(String name) {
    String full =
        switch (name) {
          case "h" -> HELP;
          case "o" -> OUTPUT;
          default -> name;
        };
    return ALL.stream().filter(flag -> flag.name.equals(full)).findFirst().orElse(null);
  }
}
