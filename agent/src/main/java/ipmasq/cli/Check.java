package ipmasq.cli;

import ipmasq.config.Config;
import ipmasq.config.ConfigReader;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** {@code check FILE…}: says what is wrong with config files, without touching anything. */
final class Check {
  private Check() {}

  static int run(Console console, List<String> files) {
    if (files.isEmpty()) {
      return Main.usage("check needs the file to check: ip-masq-agent check FILE", console.err());
    }
    int code = Main.OK;
    List<Object> answers = new ArrayList<>();
    for (String file : files) {
      if (!Files.exists(Path.of(file))) {
        // For the running agent a missing file means the defaults; here it is a slip of the pen.
        code = console.fail(file + ": no such file");
        continue;
      }
      // The node where the file will be used may be another one: this one is not asked.
      Reading reading = ConfigReader.read(Path.of(file), console.settings().flags());
      if (console.json()) {
        answers.add(json(file, reading));
      }
      code = Math.max(code, report(console, file, reading));
    }
    if (console.json()) {
      console.printJson(answers);
    }
    return code;
  }

  private static int report(Console console, String file, Reading reading) {
    return switch (reading) {
      case Reading.Read read -> {
        if (!console.json()) {
          console.print(read.warnings());
          console.out().println(file + ": good: " + summary(read.config()));
        }
        yield Main.OK;
      }
      case Reading.Rejected rejected -> {
        if (!console.json()) {
          console.print(rejected.problems());
        }
        yield Main.FAILED;
      }
    };
  }

  private static String summary(Config config) {
    int ranges = config.nonMasqueradeCidrs().size();
    return (ranges == 1 ? "1 range is" : ranges + " ranges are")
        + " not masqueraded, resync every "
        + config.resyncInterval().toString().substring(2).toLowerCase();
  }

  private static Map<String, Object> json(String file, Reading reading) {
    List<Problem> problems =
        switch (reading) {
          case Reading.Read read -> read.warnings();
          case Reading.Rejected rejected -> rejected.problems();
        };
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("file", file);
    answer.put("good", reading instanceof Reading.Read);
    answer.put("problems", problems.stream().map(Problem::fields).toList());
    return answer;
  }
}
