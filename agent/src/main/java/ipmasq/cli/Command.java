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
      "enforce the config until stopped (the default)",
      "Keeps the node's rules as the config says until SIGTERM or SIGINT. The rules stay unless"
          + " --cleanup-on-exit is given. The logging flags of klog are accepted too; all but --v"
          + " do nothing.",
      Rules.ALL,
      Set.of(
          Flag.WATCH_INTERVAL,
          Flag.CLEANUP_ON_EXIT,
          Flag.DRY_RUN,
          Flag.LISTEN,
          Flag.FLOW_SAMPLES,
          Flag.LOG_FORMAT,
          Flag.VERBOSITY,
          Flag.VERSION),
      "0 stopped, 1 the last pass did not end within 5 s of the signal",
      "--enable-ipv6 --listen=127.0.0.1:9090"),
  CHECK(
      "FILE…",
      "say what is wrong with config files",
      "Touches nothing, and does not look at this node. A file may be a ConfigMap's manifest, whose"
          + " key config is checked, or - for the standard input.",
      Rules.DEFAULTS,
      Set.of(Flag.STRICT, Flag.OUTPUT),
      "0 good, 1 bad",
      "check --strict my-config"),
  CONFIG(
      "",
      "show the effective config, and where each value comes from",
      "Prints every key with its value and the flag, or the file and line, that decides it. The"
          + " answer is itself a config file. With --config=- the file is the standard input.",
      Rules.ALL,
      Set.of(Flag.OUTPUT),
      "0 good, 1 bad",
      "config --config my-config --enable-ipv6"),
  PLAN(
      "",
      "show what a pass would change",
      "Compares the rules in the kernel with the config and writes nothing: + would be added, -"
          + " removed, ~ repaired. With --config=- the file is the standard input.",
      Rules.ALL,
      Set.of(Flag.OUTPUT),
      "0 nothing would change, 1 the file is bad or the rules cannot be read, 2 something would"
          + " change or wrong usage",
      "plan --config my-config"),
  APPLY(
      "",
      "make one pass",
      "Writes what plan shows, once. Refuses where an agent runs, this one or a Go agent, which"
          + " keeps its own rules.",
      Rules.ALL,
      Set.of(Flag.OUTPUT),
      "0 the rules are in force, 1 they are not",
      "apply --config my-config"),
  STATUS(
      "",
      "say whether packets go as the config says",
      "Asks the running agent, if it listens, and otherwise looks at the file and the kernel.",
      Rules.ALL,
      Set.of(Flag.LISTEN, Flag.OUTPUT),
      "0 packets go as the config says and an agent runs, 1 otherwise",
      "status --output=json"),
  EXPLAIN(
      "ADDRESS…",
      "say what happens to packets to these addresses, and why",
      "Goes by everybody's rules in the kernel or, with --config, by that file alone. The running"
          + " agent's config, or the default file, tells which rules are ours. Of two addresses it also explains the flow from the first to the second.",
      Rules.ALL,
      Set.of(Flag.FROM, Flag.VIA, Flag.PROTO, Flag.PORT, Flag.OUTPUT),
      "0 answered, 1 the file is bad or nothing can be read",
      "explain 10.244.1.2 8.8.8.8 --proto=tcp --port=443"),
  CLEANUP(
      "",
      "remove every rule of this agent, of this or an earlier version",
      "Looks at every backend. A running agent puts its rules back, be it this one or a Go agent:"
          + " stop it first.",
      Rules.ALL,
      Set.of(Flag.OUTPUT),
      "0 nothing is left, 1 something could not be removed",
      "cleanup"),
  VERSION("", "print the version", "", Rules.NONE, Set.of(), "0 printed", "version"),
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
    /** Those that name files, too. */
    ALL
  }

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

  /** Each exit code with its meaning, comma-separated; 2 is wrong usage of all. */
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
          case DEFAULTS -> rules != Rules.NONE;
          case PLACES -> rules == Rules.ALL;
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
