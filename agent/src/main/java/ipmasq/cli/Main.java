package ipmasq.cli;

import ipmasq.app.Backends;
import ipmasq.app.Version;
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
    try {
      CommandLine line = CommandLine.parse(args);
      Optional<RunningAgent> agent =
          line.command().followsAgent() ? RunningAgent.find() : Optional.empty();
      CommandLine full = agent.isPresent() ? line.beside(agent.get()) : line;
      boolean adopted = !full.equals(line);
      if (adopted) {
        err.println(
            "with the flags of the agent that runs here (process " + agent.get().pid() + ")");
      }
      // A missing file that the running agent names means the default list there, and so here.
      boolean named = line.command() != Command.RUN && line.has(Flag.CONFIG);
      try (Backends backends = backends(full)) {
        return line.command()
            .run(
                new CommandContext(
                    full,
                    full.paths(named ? IfMissing.ERROR : IfMissing.WARNING),
                    agent,
                    adopted,
                    backends,
                    in,
                    out,
                    err));
      }
    } catch (WrongUsage wrong) {
      String command =
          Arrays.stream(Command.values())
              .filter(it -> it != Command.HELP && args.contains(it.word()))
              .map(it -> " " + it.word())
              .findFirst()
              .orElse("");
      err.println(
          "ip-masq-agent: " + wrong.getMessage() + " (see ip-masq-agent" + command + " --help)");
      return USAGE;
    }
  }

  /** Those that write keep their table; cleanup removes every chain of an agent's, or one. */
  private static Backends backends(CommandLine line) {
    boolean writes = line.command() == Command.RUN || line.command() == Command.APPLY;
    boolean everyName = line.command() == Command.CLEANUP && !line.has(Key.MASQ_CHAIN);
    return new Backends(line.cni(), writes && !line.isOn(Flag.DRY_RUN), everyName);
  }

  static int version(CommandContext context) {
    String version = Version.text();
    context.print(
        context.json() ? Json.write(Map.of("version", version)) : "ip-masq-agent " + version);
    return OK;
  }
}
