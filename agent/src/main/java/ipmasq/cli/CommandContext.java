package ipmasq.cli;

import ipmasq.app.Backends;
import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.config.Config.BackendChoice;
import ipmasq.config.ConfigPaths;
import ipmasq.config.ConfigPaths.IfMissing;
import ipmasq.config.ConfigReader;
import ipmasq.config.FileSnapshot;
import ipmasq.config.FlagDefaults;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.json.Json;
import ipmasq.net.Family;
import ipmasq.net.Ip;
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
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * The context of a command: what was asked, the node as it is, its input and output.
 *
 * @param paths the files to read
 * @param agent the one that runs here, for commands that follow it
 * @param adopted whether flags of that agent are in the line
 */
record CommandContext(
    CommandLine line,
    ConfigPaths paths,
    Optional<RunningAgent> agent,
    boolean adopted,
    Backends backends,
    InputStream in,
    PrintStream out,
    PrintStream err) {
  private static final Path STDIN = Path.of("-");

  /** Whether a switch is given. */
  boolean isOn(Flag flag) {
    return line.isOn(flag);
  }

  /** Whether the output is for scripts. */
  boolean json() {
    return line.isJson(Flag.OUTPUT);
  }

  /** Whether the command line itself names the files. */
  boolean configGiven() {
    return paths.ifMissing() == IfMissing.ERROR;
  }

  /** The source of the packets to explain or trace. */
  Optional<Ip> from() {
    return line.text(Flag.FROM).flatMap(Ip::parse);
  }

  Optional<String> protocol() {
    return line.text(Flag.PROTO);
  }

  /** The port to which they go. */
  OptionalInt port() {
    return line.number(Flag.PORT).map(OptionalInt::of).orElse(OptionalInt.empty());
  }

  void print(Object line) {
    out.println(line);
  }

  void printJson(Object value) {
    print(Json.write(value));
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

  /** Whether a config is good; if not, prints what is wrong, as JSON for scripts. */
  boolean accepts(Reading reading) {
    boolean good = reading instanceof Reading.Read;
    if (!json()) {
      problems(reading).forEach(err::println); // one per line, as compilers do
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
    return ConfigReader.read(files(paths), flags(backends.look()));
  }

  /** What counts of it: if the files are bad, the flags. */
  Config config(Reading reading) {
    return reading instanceof Reading.Read read ? read.config() : line.defaults().config();
  }

  /** The files as they are now: {@code -} is the standard input. */
  List<FileSnapshot> files(ConfigPaths files) {
    return files.paths().equals(List.of(STDIN))
        ? List.of(FileSnapshot.from(STDIN, in))
        : files.read();
  }

  /** The flags with what {@code backend: auto} stands for on a node. */
  FlagDefaults flags(Node node) {
    return line.defaults().on(node.auto().backend());
  }

  /** A sync with a config that was already read, that writes rules or only plans them. */
  SyncReport sync(Reading reading, boolean writes) {
    return backends
        .sync(_ -> reading, line.defaults().config(), writes, UnaryOperator.identity())
        .run(Set.of(Trigger.START), false);
  }

  /**
   * A config that leaves the backend open, with the one that holds our rules: the running agent's
   * or, without an agent, the first where rules are left. If there is none, the same config.
   */
  Config located(Config config) {
    if (config.backend() != BackendChoice.AUTO) {
      return config;
    }
    Optional<String> holder =
        agent.isPresent()
            ? agent.get().backend()
            : backends.places(config).stream()
                .filter(place -> List.of(Family.values()).stream().anyMatch(it -> holds(place, it)))
                .map(Backend::name)
                .findFirst();
    return holder.map(name -> Backends.fixed(config, name)).orElse(config);
  }

  private static boolean holds(Backend place, Family family) {
    return place.observe(family) instanceof Observation.Seen(var observed)
        && observed.policy().isPresent();
  }
}
