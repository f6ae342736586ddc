package ipmasq.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.config.Problem.Severity;
import ipmasq.config.Value.Entry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.nodes.ScalarNode;

/**
 * A ConfigMap manifest with the config embedded as text. Nodes never see the manifest, only the
 * value of its key.
 */
public final class ConfigMapManifest {
  private static final String KEY = "config";
  private static final String NAME = "ip-masq-agent";
  private static final String NAMESPACE = "kube-system";

  private ConfigMapManifest() {}

  /**
   * Reads the config in a manifest, its problems with their places in the manifest's file and its
   * source with the bytes that nodes will see; empty if the file is no such manifest.
   */
  public static Optional<Reading> read(FileSnapshot file, FlagDefaults flags) {
    String text = file.text(new Problems()).orElse("");
    List<Value> maps = text.contains("ConfigMap") ? configMaps(file, text) : List.of();
    return maps.stream()
        .filter(map -> config(map).isPresent())
        .findFirst()
        .map(map -> read(file, text, map, config(map).get(), flags))
        .or(() -> maps.stream().findFirst().map(map -> noConfig(file, map)));
  }

  /** None if the text is not YAML: the reader of configs will say so. */
  private static List<Value> configMaps(FileSnapshot file, String text) {
    List<Value> maps = new ArrayList<>();
    try {
      Yaml.of(file.path().toString(), text, 0)
          .forEachRemaining(document -> maps.add(Value.of(document)));
    } catch (RuntimeException notYaml) {
      return List.of();
    }
    maps.removeIf(map -> map.member("kind").filter(k -> k.text().equals("ConfigMap")).isEmpty());
    return maps;
  }

  /** The key {@code config}, or else a key named like our file. */
  private static Optional<Entry> config(Value map) {
    List<Entry> texts =
        data(map).stream().filter(entry -> entry.value().node() instanceof ScalarNode).toList();
    return texts.stream()
        .filter(entry -> entry.name().text().equals(KEY))
        .findFirst()
        .or(() -> texts.stream().filter(e -> e.name().text().startsWith("ip-masq")).findFirst());
  }

  private static List<Entry> data(Value map) {
    return map.member("data").map(Value::entries).orElse(List.of());
  }

  private static Reading noConfig(FileSnapshot file, Value map) {
    List<String> keys = data(map).stream().map(entry -> entry.name().text()).toList();
    Problem problem =
        new Problem(
            Severity.ERROR,
            map.place(),
            "this ConfigMap has no key "
                + KEY
                + (keys.isEmpty() ? "" : ", but " + String.join(", ", keys)),
            "put the config under data." + KEY);
    return new Reading.Rejected(List.of(problem), List.of(FileSnapshot.missing(file.path())));
  }

  private static Reading read(
      FileSnapshot file, String text, Value map, Entry config, FlagDefaults flags) {
    String content = config.value().text();
    String read = content;
    Path path = Path.of(file.path() + ":data." + config.name().text());
    // If the manifest holds the config line by line, it is read in place, so that its places are
    // the manifest's: all lines above are blanked, and its own lines are indented.
    if (config.value().node() instanceof ScalarNode scalar
        && scalar.getScalarStyle() == ScalarStyle.LITERAL
        && content.lines().noneMatch(each -> each.startsWith("---") || each.startsWith("%"))) {
      int line = config.value().place().line();
      StringBuilder lines = new StringBuilder("\n".repeat(line));
      text.lines()
          .skip(line)
          .limit(content.lines().count())
          .forEach(each -> lines.append(each).append('\n'));
      read = lines.toString();
      path = file.path();
    }
    List<FileSnapshot> seen = List.of(FileSnapshot.of(file.path(), content.getBytes(UTF_8)));
    return switch (ConfigReader.read(List.of(FileSnapshot.of(path, read.getBytes(UTF_8))), flags)) {
      case Reading.Read(var result, var warnings, var _, var places, var gap) -> {
        List<Problem> all = unseen(map, config);
        all.addAll(warnings);
        yield new Reading.Read(result, all, seen, places, gap);
      }
      case Reading.Rejected(var problems, var _) -> new Reading.Rejected(problems, seen);
    };
  }

  /** What keeps the agents of our manifest from seeing this ConfigMap. */
  private static List<Problem> unseen(Value map, Entry config) {
    List<Problem> problems = new ArrayList<>();
    Value metadata = map.member("metadata").orElse(config.name());
    warn(
        problems,
        metadata.member("name"),
        NAME + "(-.*)?",
        "the agent mounts the ConfigMap " + NAME,
        "name it " + NAME);
    warn(
        problems,
        metadata.member("namespace"),
        NAMESPACE,
        "the agent runs in the namespace " + NAMESPACE + ", and sees no other",
        "put it into " + NAMESPACE);
    warn(
        problems,
        Optional.of(config.name()),
        KEY,
        "the manifest mounts the key " + KEY + ", not " + config.name().text(),
        "name the key " + KEY);
    return problems;
  }

  private static void warn(
      List<Problem> problems, Optional<Value> is, String seen, String message, String hint) {
    is.filter(it -> !it.text().matches(seen))
        .map(it -> new Problem(Severity.WARNING, it.place(), message, hint))
        .ifPresent(problems::add);
  }
}
