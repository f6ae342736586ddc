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
record Flag(String name, FlagKind kind, @Nullable String value, String help) {
  enum FlagKind {
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
  static final String CNI_ADD_POLICY = "cni-add-policy";
  static final String CNI_KEEP_EXTRA = "cni-keep-extra";
  static final String WATCH_INTERVAL = "watch-interval";
  static final String CLEANUP_ON_EXIT = "cleanup-on-exit";
  static final String DRY_RUN = "dry-run";
  static final String LISTEN = "listen";
  static final String FLOW_SAMPLES = "flow-samples";
  static final String FROM = "from";
  static final String VIA = "via";
  static final String PROTO = "proto";
  static final String PORT = "port";
  static final String STRICT = "strict";
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
                      FlagKind.LIST,
                      "PATH",
                      "the config file (default /etc/config/ip-masq-agent)"),
                  new Flag(
                      ALL_RESERVED,
                      FlagKind.SWITCH,
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
                    flag.value().isEmpty() ? FlagKind.SWITCH : FlagKind.TEXT,
                    flag.value(),
                    flag.help()))
        .toList();
  }

  private static List<Flag> others() {
    return List.of(
        new Flag(
            CNI_CONFIG,
            FlagKind.TEXT,
            "PATH",
            "with --backend=cni: the CNI config, or the directory of them, whose list to keep"),
        new Flag(
            CNI_ADD_POLICY,
            FlagKind.SWITCH,
            "",
            "with --backend=cni: add the OutBoundNAT policy where there is none"),
        new Flag(
            CNI_KEEP_EXTRA,
            FlagKind.SWITCH,
            "",
            "with --backend=cni: keep entries that people put into the list"),
        new Flag(
            WATCH_INTERVAL,
            FlagKind.TEXT,
            "DURATION",
            "look this often whether somebody touched the rules; 0 never (default 1s)"),
        new Flag(CLEANUP_ON_EXIT, FlagKind.SWITCH, "", "remove the rules when stopped"),
        new Flag(DRY_RUN, FlagKind.SWITCH, "", "write nothing, and report what would change"),
        new Flag(
            LISTEN,
            FlagKind.TEXT,
            "ADDRESS:PORT",
            "where the agent serves health, metrics and a page, such as 127.0.0.1:9090 (default:"
                + " nowhere)"),
        new Flag(
            FLOW_SAMPLES,
            FlagKind.SWITCH,
            "",
            "compare the new flows of a second with the config, every half minute (default true)"),
        new Flag(FROM, FlagKind.TEXT, "ADDRESS", "explain packets with this source"),
        new Flag(VIA, FlagKind.TEXT, "INTERFACE", "explain packets that leave by this interface"),
        new Flag(PROTO, FlagKind.TEXT, "tcp|udp|sctp|icmp", "explain packets of this protocol"),
        new Flag(PORT, FlagKind.NUMBER, "N", "explain packets to this port"),
        new Flag(STRICT, FlagKind.SWITCH, "", "a warning is an error"),
        new Flag(OUTPUT, FlagKind.TEXT, "text|json", "how to answer (default text)"),
        new Flag(LOG_FORMAT, FlagKind.TEXT, "text|json", "how the log looks (default text)"),
        new Flag(
            VERBOSITY,
            FlagKind.NUMBER,
            "N",
            "how much to log: 0 changes and problems, 1 each repair, 2 each pass"),
        new Flag(VERSION, FlagKind.SWITCH, "", "print the version and exit"),
        new Flag(HELP, FlagKind.SWITCH, "", "print this and exit"),
        new Flag("h", FlagKind.SWITCH, null, "as --help"),
        new Flag("logtostderr", FlagKind.IGNORED_SWITCH, null, ""),
        new Flag("alsologtostderr", FlagKind.IGNORED_SWITCH, null, ""),
        new Flag("one_output", FlagKind.IGNORED_SWITCH, null, ""),
        new Flag("add_dir_header", FlagKind.IGNORED_SWITCH, null, ""),
        new Flag("skip_headers", FlagKind.IGNORED_SWITCH, null, ""),
        new Flag("skip_log_headers", FlagKind.IGNORED_SWITCH, null, ""),
        new Flag("stderrthreshold", FlagKind.IGNORED, null, ""),
        new Flag("vmodule", FlagKind.IGNORED, null, ""),
        new Flag("log_dir", FlagKind.IGNORED, null, ""),
        new Flag("log_file", FlagKind.IGNORED, null, ""),
        new Flag("log_file_max_size", FlagKind.IGNORED, null, ""),
        new Flag("log_backtrace_at", FlagKind.IGNORED, null, ""));
  }

  /** Whether a bare {@code --name} is complete, so that the next word is not its value. */
  boolean standsAlone() {
    return kind == FlagKind.SWITCH || kind == FlagKind.IGNORED_SWITCH;
  }

  boolean isHelp() {
    return name.equals(HELP) || name.equals("h");
  }

  Subject subject() {
    if (kind == FlagKind.IGNORED || kind == FlagKind.IGNORED_SWITCH) {
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
    for (Flag flag : ALL) {
      if (flag.name.equals(name)) {
        return flag;
      }
    }
    return null;
  }
}
