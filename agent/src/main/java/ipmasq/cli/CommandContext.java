package ipmasq.cli;

import ipmasq.app.Backends;
import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.config.ConfigPaths;
import ipmasq.config.ConfigReader;
import ipmasq.config.FileSnapshot;
import ipmasq.config.FlagDefaults;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.json.Json;
import ipmasq.net.Family;
import ipmasq.sync.Node;
import ipmasq.sync.SyncReport;
import ipmasq.sync.Trigger;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * The context of a command: its settings, the backends, its input and output.
 *
 * @param adopted whether flags of the running agent are among the settings
 */
record CommandContext(
    InputStream in,
    PrintStream out,
    PrintStream err,
    Settings settings,
    Backends backends,
    boolean adopted) {
  private static final Path STDIN = Path.of("-");

  /** Whether a switch is given. */
  boolean isOn(Flag flag) {
    return settings.line().isOn(flag);
  }

  /** Whether the output is for scripts. */
  boolean json() {
    return settings.line().isJson(Flag.OUTPUT);
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

  /** What the config says. */
  Reading read() {
    return ConfigReader.read(files(settings.paths()), flags(backends.look()));
  }

  /** The files as they are now: {@code -} is the standard input. */
  List<FileSnapshot> files(ConfigPaths paths) {
    return paths.paths().equals(List.of(STDIN))
        ? List.of(FileSnapshot.from(STDIN, in))
        : paths.read();
  }

  /** The flags with what {@code backend: auto} stands for on a node. */
  FlagDefaults flags(Node node) {
    return settings.flags().on(node.auto().backend());
  }

  /** A sync with a config that was already read, that writes rules or only plans them. */
  SyncReport sync(Reading reading, boolean writes) {
    return backends
        .sync(_ -> reading, settings.config(), writes, UnaryOperator.identity())
        .pass(Set.of(Trigger.START), false);
  }

  /** The first of these places that holds rules of ours. */
  static Optional<Backend> holder(List<Backend> places, List<Family> families) {
    return places.stream()
        .filter(
            place ->
                families.stream()
                    .anyMatch(
                        family ->
                            place.observe(family) instanceof Observation.Seen(var observed)
                                && observed.policy().isPresent()))
        .findFirst();
  }
}
