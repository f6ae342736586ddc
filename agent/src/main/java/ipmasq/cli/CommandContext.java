package ipmasq.cli;

import ipmasq.app.Backends;
import ipmasq.app.Settings;
import ipmasq.backend.Failure;
import ipmasq.config.ConfigFollower;
import ipmasq.config.ConfigReader;
import ipmasq.config.FileSnapshot;
import ipmasq.config.FlagDefaults;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.json.Json;
import ipmasq.log.Log;
import ipmasq.log.LogQueue;
import ipmasq.sync.ConfigWatch;
import ipmasq.sync.EffectiveConfig;
import ipmasq.sync.Node;
import ipmasq.sync.Sync;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * The context of a command: its settings, the backends and its output.
 *
 * @param adopted whether flags of the running agent are among the settings
 */
record CommandContext(
    PrintStream out, PrintStream err, Settings settings, Backends backends, boolean adopted) {
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

  /** What the config says: {@code --config -} is the standard input. */
  Reading read(InputStream in) {
    if (!settings.configs().equals(List.of(STDIN))) {
      return read();
    }
    return ConfigReader.read(List.of(FileSnapshot.from(STDIN, in)), flags(backends.look()));
  }

  Reading read() {
    return ConfigReader.read(settings.paths(), flags(backends.look()));
  }

  /** For a file that may be meant for another node, unless an agent runs on this one. */
  FlagDefaults flagsForCheck() {
    return adopted ? flags(backends.look()) : settings.flags();
  }

  private FlagDefaults flags(Node node) {
    return settings.flags().on(node.auto().backend());
  }

  /**
   * Syncs with the config as it is at the time, that write unless this is a dry run.
   *
   * @param lastGood may put an earlier config in force instead
   */
  Sync sync(ConfigWatch watch, UnaryOperator<EffectiveConfig> lastGood) {
    ConfigFollower follower = new ConfigFollower();
    return sync(
        node ->
            watch
                .files()
                .map(files -> follower.read(files, flags(node)))
                .orElseGet(() -> ConfigFollower.noAnswer(watch.reading(), ConfigWatch.PATIENCE)),
        !settings.dryRun(),
        lastGood);
  }

  /**
   * Syncs with a config that was already read.
   *
   * @param writes whether they write rules, or only plan them
   */
  Sync sync(Reading reading, boolean writes) {
    return sync(_ -> reading, writes, UnaryOperator.identity());
  }

  private Sync sync(
      Function<Node, Reading> file, boolean writes, UnaryOperator<EffectiveConfig> lastGood) {
    return backends.sync(file, settings.config(), writes, lastGood);
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
