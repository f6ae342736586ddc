package ipmasq.cli;

import ipmasq.app.Backends;
import ipmasq.app.Version;
import ipmasq.config.ConfigPaths.IfMissing;
import ipmasq.json.Json;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The entry point: parses the command line and runs a command. */
public final class Main {
  /** Exit codes, the same for every command. */
  public static final int OK = 0;

  static final int FAILED = 1;

  /** Something would change. Not diff's 1, because 1 means failure. */
  static final int WOULD_CHANGE = 2;

  static final int USAGE = 64;
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
    if (line.isOn(Flag.HELP, false)) {
      return line.words().isEmpty() ? Help.print(out) : Help.print(command, out);
    }
    Optional<String> refusal = line.refusal(command);
    if (refusal.isPresent()) {
      return usage(refusal.get(), command, err);
    }
    if (line.isOn(Flag.VERSION, false)) {
      return version(out, false);
    }
    List<String> operands =
        line.words().isEmpty() ? List.of() : line.words().subList(1, line.words().size());
    CommandLine full = asTheAgentRuns(command, line, err);
    // A missing file that the running agent names means the default list there, and so here.
    IfMissing ifMissing =
        command == Command.RUN || !line.has(Flag.CONFIG) ? IfMissing.WARNING : IfMissing.ERROR;
    switch (SettingsParser.of(full, ifMissing)) {
      case SettingsParser.ParsedSettings.WrongSettings(var message) -> {
        return usage(message, command, err);
      }
      case SettingsParser.ParsedSettings.GoodSettings(var settings) -> {
        try (Backends backends =
            switch (command) {
              case RUN, APPLY ->
                  settings.dryRun() ? Backends.withoutOwner(settings) : Backends.owning(settings);
              case CLEANUP -> Backends.removing(settings);
              case CHECK, CONFIG, PLAN, STATUS, EXPLAIN, TRACE, VERSION, HELP ->
                  Backends.withoutOwner(settings);
            }) {
          boolean adopted = !full.equals(line);
          return run(command, operands, new CommandContext(out, err, settings, backends, adopted));
        }
      }
    }
  }

  /** Without flags for rules, besides the file, a command uses those of the running agent. */
  private static CommandLine asTheAgentRuns(Command command, CommandLine line, PrintStream err) {
    boolean adopts =
        switch (command) {
          case CHECK, CONFIG, STATUS, PLAN, EXPLAIN, APPLY, CLEANUP -> true;
          case RUN, TRACE, VERSION, HELP -> false;
        };
    if (!adopts || line.decidesRules()) {
      return line;
    }
    Optional<RunningAgent> agent = RunningAgent.find();
    CommandLine full = agent.map(line::as).orElse(line);
    if (!full.equals(line)) {
      err.println("with the flags of the agent that runs here (process " + agent.get().pid() + ")");
    }
    return full;
  }

  private static int run(Command command, List<String> operands, CommandContext context) {
    return switch (command) {
      case RUN -> Run.run(context);
      case CHECK -> Check.run(context, operands);
      case CONFIG -> ShowConfig.run(context);
      case PLAN -> ShowPlan.run(context);
      case APPLY -> Apply.run(context);
      case STATUS -> context.settings().ports() ? ShowPorts.run(context) : ShowStatus.run(context);
      case EXPLAIN -> Explain.run(context, operands);
      case TRACE -> ShowTrace.run(context, operands);
      case CLEANUP -> Cleanup.run(context);
      case VERSION -> version(context.out(), context.json());
      case HELP -> help(operands, context);
    };
  }

  private static int version(PrintStream out, boolean json) {
    out.println(
        json ? Json.write(Map.of("version", Version.text())) : "ip-masq-agent " + Version.text());
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
    return usage(message, " " + command.word(), err);
  }

  private static int usage(String message, PrintStream err) {
    return usage(message, "", err);
  }

  private static int usage(String message, String command, PrintStream err) {
    err.println("ip-masq-agent: " + message + " (see ip-masq-agent" + command + " --help)");
    return USAGE;
  }
}
