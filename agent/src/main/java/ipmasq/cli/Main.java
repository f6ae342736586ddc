package ipmasq.cli;

import ipmasq.app.Backends;
import ipmasq.app.Version;
import ipmasq.cli.CommandLine.Parsed;
import ipmasq.config.ConfigPaths.IfMissing;
import ipmasq.config.Key;
import ipmasq.json.Json;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

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
      code = run(List.of(args), System.in, out, err);
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

  static int run(List<String> args, InputStream in, PrintStream out, PrintStream err) {
    CommandLine line;
    switch (CommandLine.parse(args)) {
      case Parsed.Wrong<CommandLine>(var message) -> {
        return usage(message, args.stream().flatMap(arg -> Command.named(arg).stream()), err);
      }
      case Parsed.Good<CommandLine>(var parsed) -> line = parsed;
    }
    String word = line.words().isEmpty() ? "run" : line.words().getFirst();
    Optional<Command> named = Command.named(word);
    if (named.isEmpty()) {
      return unknown(word, err);
    }
    Command command = named.get();
    if (line.isOn(Flag.HELP)) {
      return line.words().isEmpty() ? Help.print(out) : Help.print(command, out);
    }
    Optional<String> refusal = line.refusal(command);
    if (refusal.isPresent()) {
      return usage(refusal.get(), command, err);
    }
    if (line.isOn(Flag.VERSION)) {
      return version(out, false);
    }
    CommandLine full = asTheAgentRuns(command, line, err);
    // A missing file that the running agent names means the default list there, and so here.
    IfMissing ifMissing =
        command == Command.RUN || !line.has(Flag.CONFIG) ? IfMissing.WARNING : IfMissing.ERROR;
    switch (Settings.of(full, ifMissing)) {
      case Parsed.Wrong<Settings>(var message) -> {
        return usage(message, command, err);
      }
      case Parsed.Good<Settings>(var settings) -> {
        try (Backends backends = backends(command, settings)) {
          boolean adopted = !full.equals(line);
          List<String> operands = line.words().stream().skip(1).toList();
          return run(
              command, operands, new CommandContext(in, out, err, settings, backends, adopted));
        }
      }
    }
  }

  private static Backends backends(Command command, Settings settings) {
    return switch (command) {
      case RUN, APPLY ->
          settings.dryRun()
              ? Backends.withoutOwner(settings.cni())
              : Backends.owning(settings.cni());
      case CLEANUP -> Backends.removing(settings.cni(), !settings.line().has(Key.MASQ_CHAIN));
      case CHECK, CONFIG, PLAN, STATUS, EXPLAIN, TRACE, VERSION, HELP ->
          Backends.withoutOwner(settings.cni());
    };
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
      case STATUS -> context.isOn(Flag.PORTS) ? ShowPorts.run(context) : ShowStatus.run(context);
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
        .orElseGet(() -> unknown(word, context.err()));
  }

  private static int unknown(String word, PrintStream err) {
    List<String> known = Arrays.stream(Command.values()).map(Command::word).toList();
    String message = "unknown command " + word + Help.didYouMean(word, known, "");
    return usage(message, Stream.empty(), err);
  }

  /** Prints one line about a wrong command line; returns the exit code for usage errors. */
  static int usage(String message, Command command, PrintStream err) {
    return usage(message, Stream.of(command), err);
  }

  private static int usage(String message, Stream<Command> commands, PrintStream err) {
    String command = commands.map(it -> " " + it.word()).findFirst().orElse("");
    err.println("ip-masq-agent: " + message + " (see ip-masq-agent" + command + " --help)");
    return USAGE;
  }
}
