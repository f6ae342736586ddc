package ipmasq.cli;

import ipmasq.app.Backends;
import ipmasq.app.Settings;
import ipmasq.app.Version;
import ipmasq.config.ConfigPaths.IfMissing;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** The entry point: parses the command line and runs a command. */
public final class Main {
  /** Exit codes, the same for every command. */
  public static final int OK = 0;

  static final int FAILED = 1;
  static final int USAGE = 2;
  private static final int BUG = 70;

  /** The kernel's words. */
  private static final String NO_DESCRIPTOR = "Too many open files";

  private Main() {}

  public static void main(String[] args) {
    // Text is UTF-8 whatever the locale of the container says.
    OutputStream lines = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out));
    PrintStream out = new PrintStream(lines, false, StandardCharsets.UTF_8);
    PrintStream err =
        new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
    int code;
    try {
      code = run(List.of(args), out, err);
    } catch (RuntimeException | Error bug) {
      // Other threads must not keep an idle process alive.
      code = died(bug, err);
    }
    out.flush();
    // We need no shutdown hooks any more, and exit would wait for the JDK's.
    Runtime.getRuntime().halt(code);
  }

  private static int died(Throwable bug, PrintStream err) {
    if (bug instanceof LinkageError && String.valueOf(bug.getMessage()).contains(NO_DESCRIPTOR)) {
      // Java could not load one of its own libraries.
      err.println("ip-masq-agent: " + NO_DESCRIPTOR + ": raise the limit (ulimit -n)");
      return FAILED;
    }
    err.println("ip-masq-agent: a bug, please report it; rules that are in force stay");
    bug.printStackTrace(err);
    return BUG;
  }

  static int run(List<String> args, PrintStream out, PrintStream err) {
    CommandLine line;
    switch (CommandLine.parse(args)) {
      case CommandLine.ParsedLine.WrongLine(var message) -> {
        return usage(message, err);
      }
      case CommandLine.ParsedLine.GoodLine(var parsed) -> line = parsed;
    }
    String word = line.words().isEmpty() ? "run" : line.words().getFirst();
    Optional<Command> named = Command.named(word);
    if (named.isEmpty()) {
      return usage("unknown command " + word + Command.suggestion(word), err);
    }
    Command command = named.get();
    if (line.isOn(Flag.HELP, false) || line.isOn("h", false)) {
      return line.words().isEmpty() ? Help.print(out) : Help.print(command, out);
    }
    Optional<String> refusal = line.refusal(command);
    if (refusal.isPresent()) {
      return usage(refusal.get(), command, err);
    }
    if (line.isOn(Flag.VERSION, false)) {
      return version(out);
    }
    List<String> operands =
        line.words().isEmpty() ? List.of() : line.words().subList(1, line.words().size());
    CommandLine full = asTheAgentRuns(command, line, err);
    // The running agent's file may be missing: then the defaults hold there, and here too.
    IfMissing ifNamed = full.equals(line) ? IfMissing.ERROR : IfMissing.WARNING;
    switch (SettingsParser.of(full)) {
      case SettingsParser.ParsedSettings.WrongSettings(var message) -> {
        return usage(message, command, err);
      }
      case SettingsParser.ParsedSettings.GoodSettings(var parsed) -> {
        Settings settings = command == Command.EXPLAIN ? asTheAgentReads(line, parsed) : parsed;
        try (Backends backends = backends(command, settings)) {
          return run(command, operands, new CommandContext(out, err, settings, backends, ifNamed));
        }
      }
    }
  }

  /** Without flags for rules, a command uses those of the running agent. */
  private static CommandLine asTheAgentRuns(Command command, CommandLine line, PrintStream err) {
    boolean asks =
        switch (command) {
          case CONFIG, STATUS, PLAN, EXPLAIN, APPLY, CLEANUP -> true;
          case RUN, CHECK, VERSION, HELP -> false;
        };
    if (!asks || line.decidesRules()) {
      return line;
    }
    Optional<RunningAgent> agent = RunningAgent.find();
    CommandLine full = agent.map(it -> line.as(it, command != Command.EXPLAIN)).orElse(line);
    if (!full.equals(line)) {
      err.println("with the flags of the agent that runs here (process " + agent.get().pid() + ")");
    }
    return full;
  }

  /**
   * With a file that was named, explain goes by that; otherwise the agent's tells where to look.
   */
  private static Settings asTheAgentReads(CommandLine line, Settings settings) {
    return line.decidesRules()
        ? settings
        : RunningAgent.find()
            .map(agent -> settings.reading(agent.files(settings.configs())))
            .orElse(settings);
  }

  private static Backends backends(Command command, Settings settings) {
    return switch (command) {
      case RUN -> settings.dryRun() ? Backends.withoutOwner(settings) : Backends.owning(settings);
      case APPLY -> Backends.owning(settings);
      case CLEANUP -> Backends.removing(settings);
      case CHECK, CONFIG, PLAN, STATUS, EXPLAIN, VERSION, HELP -> Backends.withoutOwner(settings);
    };
  }

  private static int run(Command command, List<String> operands, CommandContext context) {
    return switch (command) {
      case RUN -> Run.run(context);
      case CHECK -> Check.run(context, operands);
      case CONFIG -> ShowConfig.run(context);
      case PLAN -> ShowPlan.run(context);
      case APPLY -> Apply.run(context);
      case STATUS -> ShowStatus.run(context);
      case EXPLAIN -> Explain.run(context, operands);
      case CLEANUP -> Cleanup.run(context);
      case VERSION -> version(context.out());
      case HELP -> help(operands, context);
    };
  }

  private static int version(PrintStream out) {
    out.println("ip-masq-agent " + Version.text());
    return OK;
  }

  private static int help(List<String> operands, CommandContext context) {
    if (operands.isEmpty()) {
      return Help.print(context.out());
    }
    String word = operands.getFirst();
    return Command.named(word)
        .map(command -> Help.print(command, context.out()))
        .orElseGet(
            () -> usage("unknown command " + word + Command.suggestion(word), context.err()));
  }

  /** Prints one line about a wrong command line; returns the exit code for usage errors. */
  static int usage(String message, Command command, PrintStream err) {
    err.println("ip-masq-agent: " + message + " (see ip-masq-agent " + command.word() + " --help)");
    return USAGE;
  }

  private static int usage(String message, PrintStream err) {
    err.println("ip-masq-agent: " + message + " (see ip-masq-agent --help)");
    return USAGE;
  }
}
