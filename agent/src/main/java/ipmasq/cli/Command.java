package ipmasq.cli;

import ipmasq.config.Nearest;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * A command, and all there is to know about it: this is the only place to describe a new one. Help
 * and usage errors follow from here; a test holds the table in {@code docs/configuration.md} to it.
 */
enum Command {
  RUN(
      "",
      "keep the rules in line with the config until stopped (the default)",
      "Runs until SIGTERM or SIGINT. The rules stay unless --cleanup-on-exit is given. The logging"
          + " flags of klog are accepted too; all but --v do nothing.",
      Rules.ALL,
      Set.of(
          Flag.WATCH_INTERVAL,
          Flag.CLEANUP_ON_EXIT,
          Flag.DRY_RUN,
          Flag.LISTEN,
          Flag.FLOW_SAMPLES,
          Flag.STATE_DIR,
          Flag.LOG_FORMAT,
          Flag.VERBOSITY,
          Flag.VERSION),
      "0 stopped, 1 the last sync did not end within 5 s of the signal",
      "--enable-ipv6 --listen=127.0.0.1:9090"),
  CHECK(
      "FILE…",
      "say what is wrong with config files",
      "Writes nothing. A file may be a ConfigMap's manifest, whose key config is checked, or - for"
          + " the standard input. Beside a running agent, it reads the files with that agent's"
          + " flags and backend, unless flags are given.",
      Rules.DEFAULTS,
      Set.of(Flag.OUTPUT),
      "0 good, 1 bad",
      "check --strict my-config"),
  CONFIG(
      "",
      "show the effective config, and where each value comes from",
      "Prints every key with its value and the flag, or the file and line, that decides it. The"
          + " answer is itself a config file. --config=- reads the standard input. Beside a running"
          + " agent, it uses that agent's flags, unless flags are given.",
      Rules.ALL,
      Set.of(Flag.OUTPUT),
      "0 good, 1 bad",
      "config --config my-config --enable-ipv6"),
  PLAN(
      "",
      "show what would change in the kernel",
      "Compares the rules in the kernel with the config and writes nothing: + would be added, -"
          + " removed, ~ repaired. --config=- reads the standard input. Beside a running agent, it"
          + " plans as that agent would, with its flags and backend, unless flags are given.",
      Rules.ALL,
      Set.of(Flag.FLOWS, Flag.OUTPUT),
      "0 nothing would change, 1 the file is bad or the rules cannot be read, 2 something would"
          + " change",
      "plan --config my-config"),
  APPLY(
      "",
      "write the rules once",
      "Writes what plan shows. Refuses while an agent runs here, this one or a Go agent: that agent"
          + " keeps its own rules.",
      Rules.ALL,
      Set.of(Flag.OUTPUT),
      "0 the rules are in force, 1 they are not",
      "apply --config my-config"),
  STATUS(
      "",
      "say whether packets go as the config says",
      "Asks the running agent, if it listens. Otherwise it reads the file and the kernel itself,"
          + " with that agent's flags.",
      Rules.ALL,
      Set.of(Flag.LISTEN, Flag.PORTS, Flag.OUTPUT),
      "0 packets go as the config says and an agent runs, 1 otherwise",
      "status --output=json"),
  EXPLAIN(
      "ADDRESS…",
      "say what happens to packets to these addresses, and why",
      "Follows every program's rules in the kernel or, with --config, that file alone. The running"
          + " agent's config, or the default file, tells which rules are ours. With two addresses,"
          + " it explains the flow between them, from the first to the second.",
      Rules.ALL,
      Set.of(Flag.FROM, Flag.VIA, Flag.PROTO, Flag.PORT, Flag.OUTPUT),
      "0 answered, 1 the file is bad or nothing can be read",
      "explain 10.244.1.2 8.8.8.8 --proto=tcp --port=443"),
  TRACE(
      "ADDRESS",
      "wait for new flows to an address, and say what each rule did to them",
      "Lets the kernel tell, hook by hook, which rules the first packets met, what source they left"
          + " with and whether anybody answered. What it adds to the rules for that goes with it.",
      Rules.NONE,
      Set.of(Flag.FROM, Flag.PROTO, Flag.PORT, Flag.FOR, Flag.OUTPUT),
      "0 a flow came, 1 none did or nothing can be traced",
      "trace 203.0.113.5 --proto=tcp --port=443"),
  CLEANUP(
      "",
      "remove every rule of this agent, of this or an earlier version",
      "Looks in every backend. Stop a running agent first, this one or a Go agent: it would put its"
          + " rules back. With --hold, cleanup --dry-run tells a probe whether it is done.",
      Rules.OWN_NAMES,
      Set.of(Flag.DRY_RUN, Flag.HOLD, Flag.OUTPUT),
      "0 nothing is left, 1 something could not be removed, 2 with --dry-run: something would be"
          + " removed",
      "cleanup --dry-run"),
  VERSION(
      "", "print the version", "", Rules.NONE, Set.of(Flag.OUTPUT), "0 printed", "version -o json"),
  HELP(
      "[COMMAND]",
      "show the help of a command",
      "",
      Rules.NONE,
      Set.of(),
      "0 printed",
      "help plan");

  /** Which of the flags for rules it takes. */
  private enum Rules {
    NONE,
    /** Those that change the defaults of the config. */
    DEFAULTS,
    /** Those that say where rules of ours may be. */
    OWN_NAMES,
    /** Those that name files, too. */
    ALL
  }

  private static final Set<String> OWN_NAMES =
      Set.of(Flag.CONFIG, Flag.CNI_CONFIG, "backend", "masq-chain");

  private final String operands;
  private final String purpose;
  private final String details;
  private final Rules rules;

  @SuppressWarnings("ImmutableEnumChecker") // made by Set.of, and never handed out
  private final Set<String> others;

  private final String exits;
  private final String example;

  Command(
      String operands,
      String purpose,
      String details,
      Rules rules,
      Set<String> others,
      String exits,
      String example) {
    this.operands = operands;
    this.purpose = purpose;
    this.details = details;
    this.rules = rules;
    this.others = others;
    this.exits = exits;
    this.example = example;
  }

  /** As people write it. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** With its arguments: {@code check FILE…}. */
  String usage() {
    return operands.isEmpty() ? word() : word() + " " + operands;
  }

  boolean takesOperands() {
    return !operands.isEmpty();
  }

  /** In a line. */
  String purpose() {
    return purpose;
  }

  /** In a paragraph; empty if the line says it all. */
  String details() {
    return details;
  }

  /** Each exit code with its meaning, comma-separated; 64 is wrong usage of all. */
  String exits() {
    return exits;
  }

  /** A command line without the program's name. */
  String example() {
    return example;
  }

  boolean takes(Flag flag) {
    return flag.isHelp()
        || switch (flag.subject()) {
          case DEFAULTS, PLACES ->
              switch (rules) {
                case NONE -> false;
                case DEFAULTS -> flag.subject() == Flag.Subject.DEFAULTS;
                case OWN_NAMES -> OWN_NAMES.contains(flag.name());
                case ALL -> true;
              };
          case KLOG -> this == RUN;
          case COMMAND -> others.contains(flag.name());
        };
  }

  static Optional<Command> named(String word) {
    return Arrays.stream(values()).filter(command -> command.word().equals(word)).findFirst();
  }

  /** The closest known command. */
  static String suggestion(String word) {
    return Nearest.to(word, Arrays.stream(values()).map(Command::word).toList())
        .map(near -> ": did you mean " + near + "?")
        .orElse("");
  }
}
