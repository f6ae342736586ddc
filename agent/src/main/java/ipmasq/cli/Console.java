package ipmasq.cli;

import ipmasq.backend.Failure;
import ipmasq.config.Config;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.json.Json;
import ipmasq.log.Log;
import ipmasq.loop.Sync;
import java.io.PrintStream;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What a command works with: its settings, the backends, and where it answers. */
record Console(PrintStream out, PrintStream err, Settings settings, Backends backends) {

  /** Whether a script is listening. */
  boolean json() {
    return settings.json();
  }

  void printJson(Object value) {
    out.println(Json.write(value));
  }

  /** One line on stderr; the exit code of a failure. */
  int fail(String message) {
    err.println("ip-masq-agent: " + message);
    return Main.FAILED;
  }

  int fail(Failure failure) {
    return fail(failure.toString());
  }

  /** Problems of a config file, one a line, as compilers print them. */
  void print(List<Problem> problems) {
    problems.forEach(err::println);
  }

  /** The config; where the file is bad, nothing but its problems on stderr. */
  Optional<Config> config() {
    return switch (settings.read()) {
      case Reading.Read read -> {
        print(read.warnings());
        yield Optional.of(read.config());
      }
      case Reading.Rejected rejected -> {
        print(rejected.problems());
        yield Optional.empty();
      }
    };
  }

  Sync sync() {
    return new Sync(
        settings::read, settings.base().config(), backends::forConfig, Clock.systemUTC());
  }

  Log log() {
    return new Log(err, Clock.systemUTC(), Log.Format.TEXT, settings.verbosity());
  }

  static Map<String, Object> json(Problem problem) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("severity", problem.severity().name().toLowerCase());
    fields.put("file", problem.file());
    fields.put("line", problem.line());
    fields.put("column", problem.column());
    fields.put("message", problem.message());
    fields.put("hint", problem.hint());
    return fields;
  }
}
