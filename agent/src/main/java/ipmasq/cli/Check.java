package ipmasq.cli;

import ipmasq.config.Config;
import ipmasq.config.ConfigMapManifest;
import ipmasq.config.ConfigPaths;
import ipmasq.config.ConfigPaths.IfMissing;
import ipmasq.config.ConfigReader;
import ipmasq.config.FileSnapshot;
import ipmasq.config.FlagDefaults;
import ipmasq.config.Key;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * {@code check FILE…}: says what is wrong with config files, without touching anything. A file may
 * be a ConfigMap's manifest, and {@code -} is the standard input.
 */
final class Check {
  private Check() {}

  static int run(CommandContext context) throws WrongUsage {
    List<String> files = context.line().operands();
    if (files.isEmpty()) {
      throw new WrongUsage("check needs the file to check: ip-masq-agent check FILE");
    }
    boolean strict = context.line().defaults().config().of(Key.STRICT);
    int code = Main.OK;
    List<Object> answers = new ArrayList<>();
    for (String file : files) {
      Reading reading = read(context, file);
      boolean good = reading instanceof Reading.Read read && (!strict || read.warnings().isEmpty());
      if (context.json()) {
        answers.add(json(file, reading, good));
      } else {
        report(context, file, reading, good);
      }
      code = good ? code : Main.FAILED;
    }
    if (context.json()) {
      context.printJson(answers);
    }
    return code;
  }

  /** With this node's backend if an agent runs here: else the file may be meant for another. */
  private static Reading read(CommandContext context, String file) {
    FlagDefaults flags =
        context.adopted() ? context.flags(context.backends().look()) : context.line().defaults();
    List<FileSnapshot> files =
        context.files(new ConfigPaths(List.of(Path.of(file)), IfMissing.ERROR));
    Optional<Reading> manifest =
        files.size() == 1 ? ConfigMapManifest.read(files.getFirst(), flags) : Optional.empty();
    return manifest.orElseGet(() -> ConfigReader.read(files, flags));
  }

  private static void report(CommandContext context, String file, Reading reading, boolean good) {
    CommandContext.problems(reading).forEach(context.err()::println);
    if (reading instanceof Reading.Read read) {
      String hash = hash(reading);
      context.print(
          file
              + (good ? ": good: " : ": not good enough for --strict: ")
              + summary(read.config())
              + (read.gap().isNone() ? "" : ", but " + read.gap().phrase())
              + (hash == null ? "" : ", sha256 " + hash));
    }
  }

  /** The digest of the bytes that a node will see; null if there is no file, or a directory. */
  private static @Nullable String hash(Reading reading) {
    return reading.sources().size() == 1 ? reading.sources().getFirst().hash().orElse(null) : null;
  }

  private static String summary(Config config) {
    int ranges = config.nonMasqueradeCidrs().size();
    return (ranges == 1 ? "1 range is" : ranges + " ranges are")
        + " not masqueraded, resync every "
        + Key.RESYNC_INTERVAL.json(config.resyncInterval());
  }

  private static Map<String, @Nullable Object> json(String file, Reading reading, boolean good) {
    Map<String, @Nullable Object> answer = new LinkedHashMap<>();
    answer.put("file", file);
    answer.put("good", good);
    answer.put("ignoredKeys", reading instanceof Reading.Read read ? read.gap().ignoredKeys() : 0);
    answer.put("sha256", hash(reading));
    answer.put("problems", CommandContext.problems(reading).stream().map(Problem::fields).toList());
    return answer;
  }
}
