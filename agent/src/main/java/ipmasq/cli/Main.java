package ipmasq.cli;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** The way in: sorts the command line and hands over to a command. */
public final class Main {
  /** Exit codes, the same for every command. */
  static final int OK = 0;

  static final int FAILED = 1;
  static final int USAGE = 2;
  private static final int BUG = 70;

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
      // Other threads must not keep a process alive that does nothing any more.
      err.println("ip-masq-agent: a bug, please report it; rules that are in force stay");
      bug.printStackTrace(err);
      code = BUG;
    }
    out.flush();
    // Nothing of ours needs a shutdown hook by now, and exit would wait for theirs.
    Runtime.getRuntime().halt(code);
  }

  static int run(List<String> args, PrintStream out, PrintStream err) {
    CommandLine line;
    switch (CommandLine.parse(args)) {
      case CommandLine.Parsed.Wrong(var message) -> {
        return usage(message, err);
      }
      case CommandLine.Parsed.Line(var parsed) -> line = parsed;
    }
    if (line.isOn(Flag.HELP, false) || line.isOn("h", false)) {
      return Help.print(out);
    }
    if (line.isOn(Flag.VERSION, false)) {
      return Version.print(out);
    }
    String command = line.words().isEmpty() ? "run" : line.words().getFirst();
    List<String> operands =
        line.words().isEmpty() ? List.of() : line.words().subList(1, line.words().size());
    switch (Settings.of(asTheAgentRuns(command, line, err))) {
      case Settings.Parsed.Wrong(var message) -> {
        return usage(message, err);
      }
      case Settings.Parsed.Good(var settings) -> {
        try (Backends backends = backends(command, settings)) {
          return run(command, operands, new Console(out, err, settings, backends));
        }
      }
    }
  }

  /** A command that says nothing of rules means those of the agent that runs here. */
  private static CommandLine asTheAgentRuns(String command, CommandLine line, PrintStream err) {
    boolean asks =
        switch (command) {
          case "status", "plan", "explain", "apply", "cleanup" -> true;
          default -> false;
        };
    if (!asks || line.decidesRules()) {
      return line;
    }
    Optional<RunningAgent> agent = RunningAgent.find();
    // With a file, explain goes by that file; without one, by the kernel's rules.
    CommandLine full = agent.map(it -> line.as(it, !command.equals("explain"))).orElse(line);
    if (!full.equals(line)) {
      err.println("with the flags of the agent that runs here (process " + agent.get().pid() + ")");
    }
    return full;
  }

  private static Backends backends(String command, Settings settings) {
    return switch (command) {
      case "run" -> settings.dryRun() ? Backends.visited(settings) : Backends.held(settings);
      case "apply" -> Backends.held(settings);
      case "cleanup" -> Backends.removing(settings);
      default -> Backends.visited(settings);
    };
  }

  private static int run(String command, List<String> operands, Console console) {
    PrintStream out = console.out();
    PrintStream err = console.err();
    return switch (command) {
      case "run" -> noOperands(operands, err) ? Run.run(console) : USAGE;
      case "check" -> Check.run(console, operands);
      case "plan" -> noOperands(operands, err) ? ShowPlan.run(console) : USAGE;
      case "apply" -> noOperands(operands, err) ? Apply.run(console) : USAGE;
      case "status" -> noOperands(operands, err) ? ShowStatus.run(console) : USAGE;
      case "explain" -> Explain.run(console, operands);
      case "cleanup" -> noOperands(operands, err) ? Cleanup.run(console) : USAGE;
      case "version" -> Version.print(out);
      case "help" -> Help.print(out);
      default -> usage("unknown command " + command + Help.suggestion(command), err);
    };
  }

  private static boolean noOperands(List<String> operands, PrintStream err) {
    if (!operands.isEmpty()) {
      usage("unexpected argument " + operands.getFirst(), err);
    }
    return operands.isEmpty();
  }

  static int usage(String message, PrintStream err) {
    err.println("ip-masq-agent: " + message + " (ip-masq-agent --help lists commands and flags)");
    return USAGE;
  }
}
