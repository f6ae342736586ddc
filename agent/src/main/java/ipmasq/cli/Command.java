package ipmasq.cli;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

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
      Flag.RULES,
      List.of(
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
      Flag.DEFAULTS,
      List.of(Flag.OUTPUT),
      "0 good, 1 bad",
      "check --strict my-config"),
  CONFIG(
      "",
      "show the effective config, and where each value comes from",
      "Prints every key with its value and the flag, or the file and line, that decides it. The"
          + " answer is itself a config file. --config=- reads the standard input. Beside a running"
          + " agent, it uses that agent's flags, unless flags are given.",
      Flag.RULES,
      List.of(Flag.OUTPUT),
      "0 good, 1 bad",
      "config --config my-config --enable-ipv6"),
  PLAN(
      "",
      "show what would change in the kernel",
      "Compares the rules in the kernel with the config and writes nothing: + would be added, -"
          + " removed, ~ repaired. --config=- reads the standard input. Beside a running agent, it"
          + " plans as that agent would, with its flags and backend, unless flags are given.",
      Flag.RULES,
      List.of(Flag.FLOWS, Flag.OUTPUT),
      "0 nothing would change, 1 the file is bad or the rules cannot be read, 2 something would"
          + " change",
      "plan --config my-config"),
  APPLY(
      "",
      "write the rules once",
      "Writes what plan shows. Refuses while an agent runs here, this one or a Go agent: that agent"
          + " keeps its own rules.",
      Flag.RULES,
      List.of(Flag.OUTPUT),
      "0 the rules are in force, 1 they are not",
      "apply --config my-config"),
  STATUS(
      "",
      "say whether packets go as the config says",
      "Asks the running agent, if it listens. Otherwise it reads the file and the kernel itself,"
          + " with that agent's flags.",
      Flag.RULES,
      List.of(Flag.LISTEN, Flag.PORTS, Flag.OUTPUT),
      "0 packets go as the config says and an agent runs, 1 otherwise",
      "status --output=json"),
  EXPLAIN(
      "ADDRESS…",
      "say what happens to packets to these addresses, and why",
      "Follows every program's rules in the kernel or, with --config, that file alone. The running"
          + " agent's config, or the default file, tells which rules are ours. With two addresses,"
          + " it explains the flow between them, from the first to the second.",
      Flag.RULES,
      List.of(Flag.FROM, Flag.VIA, Flag.PROTO, Flag.PORT, Flag.OUTPUT),
      "0 answered, 1 the file is bad or nothing can be read",
      "explain 10.244.1.2 8.8.8.8 --proto=tcp --port=443"),
  TRACE(
      "ADDRESS",
      "wait for new flows to an address, and say what each rule did to them",
      "Lets the kernel tell, hook by hook, which rules the first packets met, what source they left"
          + " with and whether anybody answered. What it adds to the rules disappears when it ends.",
      List.of(),
      List.of(Flag.FROM, Flag.PROTO, Flag.PORT, Flag.FOR, Flag.OUTPUT),
      "0 a flow came, 1 none did or nothing can be traced",
      "trace 203.0.113.5 --proto=tcp --port=443"),
  CLEANUP(
      "",
      "remove every rule of this agent, of this or an earlier version",
      "Looks in every backend. Stop a running agent first, this one or a Go agent: it would put its"
          + " rules back. With --hold, cleanup --dry-run tells a probe whether it is done.",
      Stream.of("config", "cni-config", "backend", "masq-chain")
          .flatMap(name -> Flag.named(name).stream())
          .toList(),
      List.of(Flag.DRY_RUN, Flag.HOLD, Flag.OUTPUT),
      "0 nothing is left, 1 something could not be removed, 2 with --dry-run: something would be"
          + " removed",
      "cleanup --dry-run"),
  VERSION(
      "", "print the version", "", List.of(), List.of(Flag.OUTPUT), "0 printed", "version -o json"),
  HELP(
      "[COMMAND]",
      "show the help of a command",
      "",
      List.of(),
      List.of(),
      "0 printed",
      "help plan");

  /** What it works on, as people write it: {@code FILE…}. */
  final String operands;

  /** In a line. */
  final String purpose;

  /** In a paragraph; empty if the line says it all. */
  final String details;

  /** Each exit code with its meaning, comma-separated; 64 is wrong usage of all. */
  final String exits;

  /** A command line without the program's name. */
  final String example;

  @SuppressWarnings("ImmutableEnumChecker") // made by toList, and never handed out
  private final List<Flag> flags;

  /**
   * @param rules those of its flags that decide the rules
   */
  Command(
      String operands,
      String purpose,
      String details,
      List<Flag> rules,
      List<Flag> others,
      String exits,
      String example) {
    this.operands = operands;
    this.purpose = purpose;
    this.details = details;
    this.flags = Stream.of(rules, others, List.of(Flag.HELP)).flatMap(List::stream).toList();
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

  boolean takes(Flag flag) {
    return flags.contains(flag) || this == RUN && Flag.KLOG.contains(flag);
  }

  static Optional<Command> named(String word) {
    return Arrays.stream(values()).filter(command -> command.word().equals(word)).findFirst();
  }
}
