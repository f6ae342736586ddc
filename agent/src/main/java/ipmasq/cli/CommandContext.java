package ipmasq.cli;

import ipmasq.app.Backends;
import ipmasq.app.Settings;
import ipmasq.backend.Failure;
import ipmasq.config.ConfigFollower;
import ipmasq.config.ConfigPaths.IfMissing;
import ipmasq.config.ConfigReader;
import ipmasq.config.FileSnapshot;
import ipmasq.config.FlagDefaults;
import ipmasq.config.Key;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.config.TooLarge;
import ipmasq.json.Json;
import ipmasq.log.Log;
import ipmasq.log.LogQueue;
import ipmasq.loop.Node;
import ipmasq.loop.Sync;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The context of a command: its settings, the backends and its output.
 *
 * @param ifNamed what a missing file means if it was named
 */
record CommandContext(
    PrintStream out, PrintStream err, Settings settings, Backends backends, IfMissing ifNamed) {
  static final Path STDIN = Path.of("-");

  /** Whether the output is for scripts. */
  boolean json() {
    return settings.json();
  }

  void printJson(Object value) {
    out.println(Json.write(value));
  }

  /** Prints one line on stderr, after earlier output; returns the exit code of a failure. */
  int fail(String message) {
    out.flush();
    err.println("ip-masq-agent: " + message);
    return Main.FAILED;
  }

  int fail(Failure failure) {
    return fail(failure.toString());
  }

  /** Prints the problems of a config file, one per line, as compilers do. */
  void print(List<Problem> problems) {
    problems.forEach(err::println);
  }

  /** Whether a config is good; if not, prints what is wrong, as JSON for scripts. */
  boolean accepts(Reading reading) {
    boolean good = reading instanceof Reading.Read;
    if (!json()) {
      print(problems(reading));
    } else if (!good) {
      printJson(answer(reading));
    }
    idleFlags(reading);
    return good;
  }

  /** The beginning of an answer to a script: the state of the config. */
  static Map<String, Object> answer(Reading reading) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("good", reading instanceof Reading.Read);
    answer.put("problems", problems(reading).stream().map(Problem::fields).toList());
    return answer;
  }

  static List<Problem> problems(Reading reading) {
    return switch (reading) {
      case Reading.Read read -> read.warnings();
      case Reading.Rejected rejected -> rejected.problems();
    };
  }

  /** The file may name the backend, so only now is it known that a flag is for another one. */
  private void idleFlags(Reading reading) {
    if (reading instanceof Reading.Read read) {
      settings
          .idle(Key.BACKEND.json(read.config().backend()).toString())
          .ifPresent(idle -> err.println("ip-masq-agent: " + idle));
    }
  }

  /** What the config says: {@code --config -} is the standard input. */
  Reading read(InputStream in) {
    if (!settings.configs().equals(List.of(STDIN))) {
      return read();
    }
    try {
      return ConfigReader.read(List.of(FileSnapshot.from(STDIN, in)), flags(backends.look()));
    } catch (OutOfMemoryError full) {
      return TooLarge.unread(List.of(STDIN));
    }
  }

  Reading read() {
    return read(ifNamed);
  }

  Reading read(IfMissing whenNamed) {
    return ConfigReader.read(settings.paths(whenNamed), flags(backends.look()));
  }

  private FlagDefaults flags(Node node) {
    return settings.flags().on(node.auto().backend());
  }

  /**
   * Passes that read the file each time, and write unless told otherwise.
   *
   * @param answered runs when an unreadable file can be read again
   */
  Sync sync(Runnable answered) {
    ConfigFollower files = new ConfigFollower(settings.paths(IfMissing.WARNING), answered);
    return sync(node -> files.read(flags(node)), !settings.dryRun());
  }

  /**
   * Passes with a config that was already read.
   *
   * @param writes whether they write rules, or only plan them
   */
  Sync sync(Reading reading, boolean writes) {
    return sync(_ -> reading, writes);
  }

  private Sync sync(Function<Node, Reading> file, boolean writes) {
    return backends.sync(file, settings.config(), writes);
  }

  /** The log of a running agent, which never blocks its callers. */
  LogQueue logQueue() {
    Clock clock = Clock.systemUTC();
    return new LogQueue(err, count -> Log.dropped(clock, settings.logFormat(), count));
  }

  Log log(LogQueue queue) {
    return new Log(queue, Clock.systemUTC(), settings.logFormat(), settings.verbosity());
  }
}
