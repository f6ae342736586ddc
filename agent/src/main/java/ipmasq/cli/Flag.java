package ipmasq.cli;

import ipmasq.config.Key;
import ipmasq.http.Listen;
import ipmasq.net.GoDuration;
import ipmasq.net.Ip;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A flag that the command line knows.
 *
 * @param name without dashes
 * @param value how its value is called in the help; empty for a switch
 * @param help one line; empty for one that the help leaves out
 */
record Flag(String name, String value, String help) {
  /** The only place to describe a new one, unless it decides a key of the config file. */
  private static final String TABLE =
      """
      config=PATH                  the config file (default /etc/config/ip-masq-agent)
      nomasq-all-reserved-ranges   without a list in the file, exempt all reserved IPv4 ranges, not \
      just RFC 1918's
      KEYS
      cni-config=PATH              with --backend=cni: the CNI config, or the directory of them, \
      whose list to keep
      cni-keep-extra               with --backend=cni: keep entries that people put into the list
      watch-interval=DURATION      how often to check whether another program changed the rules; 0 \
      never (default 1s)
      cleanup-on-exit              remove the rules when stopped
      dry-run                      write nothing, and report what would change
      hold                         when nothing is left, wait for SIGTERM instead of ending
      listen=ADDRESS:PORT          where to serve health, metrics and a page, such as \
      127.0.0.1:9090 (default: nowhere)
      flow-samples                 sample new flows and compare them with the config, every half \
      minute (default true)
      state-dir=PATH               an existing folder for the last good config (default \
      /var/lib/ip-masq-agent)
      from=ADDRESS                 packets with this source
      via=INTERFACE                explain packets that leave by this interface
      proto=tcp|udp|sctp|icmp      packets of this protocol
      port=N                       packets to this port
      ports                        say instead how many source ports masquerading has left
      for=DURATION                 how long to wait for flows (default 10s)
      flows                        also say which flows under way would leave with another source \
      if they began now
      output=text|json             the form of the answer, also as -o (default text)
      log-format=text|json         the form of the log (default text)
      v=N                          how much to log: 0 changes and problems, 1 each repair, 2 each \
      sync
      version                      print the version and exit
      help                         print this and exit
      """;

  /** Those of klog, accepted without effect because existing manifests have them. */
  static final List<Flag> KLOG =
      Stream.of(
              "logtostderr alsologtostderr one_output add_dir_header skip_headers skip_log_headers",
              "stderrthreshold= vmodule= log_dir= log_file= log_file_max_size= log_backtrace_at=")
          .flatMap(names -> Stream.of(names.split(" ")))
          .map(name -> new Flag(name.replace("=", ""), name.endsWith("=") ? "VALUE" : "", ""))
          .toList();

  /** In the order in which the help lists them. */
  static final List<Flag> ALL = all();

  static final Flag CONFIG = of("config");
  static final Flag ALL_RESERVED = of("nomasq-all-reserved-ranges");
  static final Flag CNI_CONFIG = of("cni-config");
  static final Flag CNI_KEEP_EXTRA = of("cni-keep-extra");
  static final Flag WATCH_INTERVAL = of("watch-interval");
  static final Flag CLEANUP_ON_EXIT = of("cleanup-on-exit");
  static final Flag DRY_RUN = of("dry-run");
  static final Flag HOLD = of("hold");
  static final Flag LISTEN = of("listen");
  static final Flag FLOW_SAMPLES = of("flow-samples");
  static final Flag STATE_DIR = of("state-dir");
  static final Flag FROM = of("from");
  static final Flag VIA = of("via");
  static final Flag PROTO = of("proto");
  static final Flag PORT = of("port");
  static final Flag PORTS = of("ports");
  static final Flag FOR = of("for");
  static final Flag FLOWS = of("flows");
  static final Flag OUTPUT = of("output");
  static final Flag LOG_FORMAT = of("log-format");
  static final Flag VERBOSITY = of("v");
  static final Flag VERSION = of("version");
  static final Flag HELP = of("help");

  /** Those that give defaults for keys of the file, or override them. */
  static final List<Flag> DEFAULTS = ALL.subList(1, ALL.indexOf(CNI_CONFIG));

  /** Those that decide which rules a node has, and where. */
  static final List<Flag> RULES = ALL.subList(0, ALL.indexOf(CNI_KEEP_EXTRA) + 1);

  private static final List<String> TRUE = List.of("1", "t", "T", "true", "TRUE", "True");
  private static final List<String> FALSE = List.of("0", "f", "F", "false", "FALSE", "False");

  /** The values that a flag takes, by its name or by what the help calls them. */
  private static final Map<String, Form> FORMS =
      Map.of(
          "",
          new Form("true or false", text -> TRUE.contains(text) || FALSE.contains(text)),
          "config",
          new Form("the path of a file or a directory", text -> !text.isEmpty()),
          "ADDRESS",
          new Form("an IP address", text -> Ip.parse(text).isPresent()),
          "ADDRESS:PORT",
          new Form(
              "ADDRESS:PORT, such as 127.0.0.1:9090, [::1]:9090, or :9090 for every address of the"
                  + " node",
              text -> Listen.parse(text).isPresent()),
          "N",
          new Form("a whole number", text -> number(text).isPresent()),
          "port",
          new Form(
              "a number from 1 to 65535", text -> number(text).filter(Flag::isPort).isPresent()),
          "watch-interval",
          new Form(
              "0 for never, or a duration of at least 10ms, such as 500ms",
              text -> duration(text).filter(it -> it.isZero() || it.toMillis() >= 10).isPresent()),
          "for",
          new Form(
              "a duration of at most 10m, such as 30s",
              text -> duration(text).filter(Flag::isTraceTime).isPresent()));

  private record Form(String words, Predicate<String> fits) {}

  private static List<Flag> all() {
    List<Flag> all = new ArrayList<>();
    for (String line : TABLE.split("\n")) {
      String[] columns = line.split(" +", 2);
      String[] named = columns[0].split("=");
      if (line.equals("KEYS")) {
        Key.ALL.forEach(
            key -> key.flag().ifPresent(it -> all.add(new Flag(it.name(), it.value(), it.help()))));
      } else {
        all.add(new Flag(named[0], named.length > 1 ? named[1] : "", columns[1]));
      }
    }
    all.addAll(KLOG);
    return List.copyOf(all);
  }

  /** Whether a bare {@code --name} is complete, so that the next word is not its value. */
  boolean isSwitch() {
    return value.isEmpty();
  }

  /** Throws if it does not take a value; those of keys have a parser of their own. */
  void check(String text) throws WrongUsage {
    Form form = FORMS.getOrDefault(name, FORMS.get(value));
    if (value.contains("|")) {
      form = new Form("one of " + value, List.of(value.split("\\|"))::contains);
    }
    boolean checks = isSwitch() || !DEFAULTS.contains(this);
    if (checks && form != null && !form.fits.test(text)) {
      throw new WrongUsage("%s is %s, not \"%s\"".formatted(this, form.words, text));
    }
  }

  static Flag named(String name) throws WrongUsage {
    String full = name.equals("h") ? "help" : name.equals("o") ? "output" : name;
    for (Flag flag : ALL) {
      if (flag.name.equals(full)) {
        return flag;
      }
    }
    List<String> names = ALL.stream().map(Flag::name).toList();
    throw new WrongUsage("unknown flag --" + name + Help.didYouMean(name, names, "--"));
  }

  private static Flag of(String name) {
    return ALL.stream().filter(flag -> flag.name.equals(name)).findFirst().orElseThrow();
  }

  /** The flag that decides a key. */
  static Optional<Flag> of(Key<?> key) {
    return key.flag().map(it -> of(it.name()));
  }

  static boolean isTrue(String text) {
    return TRUE.contains(text);
  }

  static Optional<Integer> number(String text) {
    try {
      return Optional.of(Integer.decode(text));
    } catch (NumberFormatException notOne) {
      return Optional.empty();
    }
  }

  private static boolean isPort(int number) {
    return number > 0 && number < 65_536;
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
