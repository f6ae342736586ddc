package ipmasq.cli;

import ipmasq.config.Key;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * A command, and all there is to know about it: this is the only place to describe a new one. Help
 * and usage errors follow from here; a test holds the table in {@code docs/configuration.md} to it.
 */
enum Command {
  RUN(
      Run::run,
      "",
      "RULES watch-interval cleanup-on-exit dry-run listen flow-samples state-dir log-format v"
          + " version",
      """
      keep the rules in line with the config until stopped (the default)
      Runs until SIGTERM or SIGINT. The rules stay unless --cleanup-on-exit is given.
      The logging flags of klog are accepted too; all but --v do nothing.
      """,
      "0 stopped, 1 the last sync did not end within 5 s of the signal",
      "--enable-ipv6 --listen=127.0.0.1:9090"),
  CHECK(
      Check::run,
      "FILE…",
      "DEFAULTS output",
      """
      say what is wrong with config files
      Writes nothing. A file may be a ConfigMap's manifest, whose key config is
      checked, or - for the standard input.
      """,
      "0 good, 1 bad",
      "check --strict my-config"),
  CONFIG(
      ShowConfig::run,
      "",
      "RULES output",
      """
      show the effective config, and where each value comes from
      Prints every key with its value and the flag, or the file and line, that decides
      it. The answer is itself a config file. --config=- reads the standard input.
      """,
      "0 good, 1 bad",
      "config --config my-config --enable-ipv6"),
  PLAN(
      OneSync::plan,
      "",
      "RULES flows output",
      """
      show what would change in the kernel
      Compares the rules in the kernel with the config and writes nothing: + would be
      added, - removed, ~ repaired. --config=- reads the standard input.
      """,
      "0 nothing would change, 1 the file is bad or the rules cannot be read, 2 something would"
          + " change",
      "plan --config my-config"),
  APPLY(
      OneSync::apply,
      "",
      "RULES output",
      """
      write the rules once
      Writes what plan shows. Refuses while an agent that writes runs here, this one
      or a Go agent: that agent keeps its own rules.
      """,
      "0 the rules are in force, 1 they are not",
      "apply --config my-config"),
  STATUS(
      ShowStatus::run,
      "",
      "RULES listen ports output",
      """
      say whether packets go as the config says
      Asks the running agent, if it listens. Otherwise it reads the file and the
      kernel itself.
      """,
      "0 packets go as the config says and an agent runs, 1 otherwise",
      "status --output=json"),
  EXPLAIN(
      context -> Explain.run(context, context.line().operands()),
      "ADDRESS…",
      "RULES from via proto port output",
      """
      say what happens to packets to these addresses, and why
      Follows every program's rules in the kernel or, with --config, that file alone.
      With two addresses, it explains the flow between them, from the first to the
      second.
      """,
      "0 answered, 1 the file is bad or nothing can be read",
      "explain 10.244.1.2 8.8.8.8 --proto=tcp --port=443"),
  TRACE(
      ShowTrace::run,
      "ADDRESS",
      "from proto port for output",
      """
      wait for new flows to an address, and say what each rule did to them
      Lets the kernel tell, hook by hook, which rules the first packets met, what
      source they left with and whether anybody answered. What it adds to the rules
      disappears when it ends.
      """,
      "0 a flow came, 1 none did or nothing can be traced",
      "trace 203.0.113.5 --proto=tcp --port=443"),
  CLEANUP(
      Cleanup::run,
      "",
      "config cni-config backend masq-chain dry-run hold output",
      """
      remove every rule of this agent, of this or an earlier version
      Looks in every backend. Stop a running agent first, this one or a Go agent: it
      would put its rules back. With --hold, cleanup --dry-run tells a probe whether
      it is done.
      """,
      "0 nothing is left, 1 something could not be removed, 2 with --dry-run: something would be"
          + " removed",
      "cleanup --dry-run"),
  VERSION(Main::version, "", "output", "print the version\n", "0 printed", "version -o json"),
  HELP(Help::run, "[COMMAND]", "", "show the help of a command\n", "0 printed", "help plan");

  /** Does the command's work; returns the exit code. */
  private interface Action {
    int run(CommandContext context) throws WrongUsage;
  }

  @SuppressWarnings("ImmutableEnumChecker") // methods of classes without state
  private final Action action;

  /** What it works on, as people write it: {@code FILE…}. */
  final String operands;

  private final String flags;

  /** In a line. */
  final String purpose;

  /** In lines; empty if the purpose says it all. */
  final String details;

  /** Each exit code with its meaning, comma-separated; 64 is wrong usage of all. */
  final String exits;

  /** A command line without the program's name. */
  final String example;

  /**
   * @param flags their names; RULES and DEFAULTS stand for those of {@link Flag}
   * @param text the purpose in a line, and the details
   */
  Command(Action action, String operands, String flags, String text, String exits, String example) {
    this.action = action;
    this.operands = operands;
    this.flags = flags;
    this.purpose = text.substring(0, text.indexOf('\n'));
    this.details = text.substring(text.indexOf('\n') + 1);
    this.exits = exits;
    this.example = example;
  }

  int run(CommandContext context) throws WrongUsage {
    return action.run(context);
  }

  /** As people write it. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** With its arguments: {@code check FILE…}. */
  String usage() {
    return operands.isEmpty() ? word() : word() + " " + operands;
  }

  boolean takes(Flag flag) {
    List<String> names = List.of(flags.split(" "));
    return names.contains(flag.name())
        || names.contains("RULES") && Flag.RULES.contains(flag)
        || names.contains("DEFAULTS") && Flag.DEFAULTS.contains(flag)
        || this == RUN && Flag.KLOG.contains(flag)
        || flag.equals(Flag.HELP);
  }

  /** Whether it uses the flags of an agent that runs here, where it has none of its own. */
  boolean followsAgent() {
    return this != RUN && Flag.of(Key.BACKEND).filter(this::takes).isPresent();
  }

  static Command named(String word) throws WrongUsage {
    for (Command command : values()) {
      if (command.word().equals(word)) {
        return command;
      }
    }
    List<String> known = Stream.of(values()).map(Command::word).toList();
    throw new WrongUsage("unknown command " + word + Help.didYouMean(word, known, ""));
  }
}
