package ipmasq.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.config.Problem.Severity;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;

/**
 * A ConfigMap manifest with the config embedded as text. Nodes never see the manifest, only the
 * value of its key.
 */
public final class ConfigMapManifest {
  private static final String KEY = "config";

  private ConfigMapManifest() {}

  /**
   * Reads the config in a manifest, its problems with their places in the manifest's file and its
   * source with the bytes that nodes will see; empty if the file is no such manifest.
   */
  public static Optional<Reading> read(FileSnapshot file, FlagDefaults flags) {
    if (file.bytes().isEmpty()) {
      return Optional.empty();
    }
    String text = FileText.decode(file.bytes().get().array());
    if (!text.contains("ConfigMap")) {
      return Optional.empty();
    }
    Optional<MappingNode> map = configMap(text);
    return map.map(
        manifest -> {
          Optional<ScalarNode> config = config(manifest);
          return config.isPresent()
              ? read(file, text, config.get(), flags)
              : noConfig(file, manifest);
        });
  }

  private static Optional<MappingNode> configMap(String text) {
    LoadSettings settings =
        LoadSettings.builder().setUseMarks(true).setCodePointLimit(Integer.MAX_VALUE).build();
    Optional<MappingNode> found = Optional.empty();
    try {
      for (Node document : new Compose(settings).composeAllFromString(text)) {
        if (document instanceof MappingNode map
            && value(map, "kind").orElse(null) instanceof ScalarNode kind
            && kind.getValue().equals("ConfigMap")
            && (found.isEmpty() || config(found.get()).isEmpty())) {
          found = Optional.of(map);
        }
      }
      return found;
    } catch (RuntimeException notYaml) {
      return Optional.empty(); // the config reader reports where
    }
  }

  private static Optional<Node> value(MappingNode map, String key) {
    for (NodeTuple tuple : map.getValue()) {
      if (tuple.getKeyNode() instanceof ScalarNode name && name.getValue().equals(key)) {
        return Optional.of(tuple.getValueNode());
      }
    }
    return Optional.empty();
  }

  private static List<NodeTuple> data(MappingNode manifest) {
    return value(manifest, "data").orElse(null) instanceof MappingNode data
        ? data.getValue()
        : List.of();
  }

  private static String name(NodeTuple tuple) {
    return tuple.getKeyNode() instanceof ScalarNode name ? name.getValue() : "";
  }

  /** The value of the key {@code config}, or else of a key named like our file. */
  private static Optional<ScalarNode> config(MappingNode manifest) {
    Optional<ScalarNode> found = Optional.empty();
    for (NodeTuple tuple : data(manifest)) {
      if (tuple.getValueNode() instanceof ScalarNode text) {
        if (name(tuple).equals(KEY)) {
          return Optional.of(text);
        }
        found = found.isEmpty() && name(tuple).startsWith("ip-masq") ? Optional.of(text) : found;
      }
    }
    return found;
  }

  private static Reading noConfig(FileSnapshot file, MappingNode manifest) {
    List<String> keys = data(manifest).stream().map(ConfigMapManifest::name).toList();
    Mark mark = manifest.getStartMark().orElseThrow();
    return new Reading.Rejected(
        List.of(
            new Problem(
                Severity.ERROR,
                file.path().toString(),
                mark.getLine() + 1,
                mark.getColumn() + 1,
                "this ConfigMap has no key "
                    + KEY
                    + (keys.isEmpty() ? "" : ", but " + String.join(", ", keys)),
                "put the config under data." + KEY)),
        List.of(new Reading.SourceFile(file.path(), Optional.empty())));
  }

  private static Reading read(
      FileSnapshot file, String text, ScalarNode config, FlagDefaults flags) {
    String content = config.getValue();
    int line = config.getStartMark().orElseThrow().getLine() + 1;
    int column = config.getStartMark().orElseThrow().getColumn() + 1;
    // If the manifest holds the config line by line, it is read in place, so that its places are
    // the manifest's: all lines above are blanked, and its own lines are indented.
    boolean inPlace =
        config.getScalarStyle() == ScalarStyle.LITERAL
            && content.lines().noneMatch(each -> each.startsWith("---") || each.startsWith("%"));
    String read = inPlace ? inPlace(text, line, content.lines().count()) : content;
    Reading reading =
        ConfigReader.read(List.of(FileSnapshot.of(file.path(), read.getBytes(UTF_8))), flags);
    FileBytes seen = new FileBytes(content.getBytes(UTF_8));
    List<Reading.SourceFile> sources =
        List.of(new Reading.SourceFile(file.path(), Optional.of(seen)));
    return switch (reading) {
      case Reading.Read(var result, var warnings, var _, var _) ->
          new Reading.Read(result, inPlace ? warnings : moved(warnings, line, column), sources);
      case Reading.Rejected(var problems, var _) ->
          new Reading.Rejected(inPlace ? problems : moved(problems, line, column), sources);
    };
  }

  private static String inPlace(String text, long line, long lines) {
    StringBuilder read = new StringBuilder("\n".repeat((int) line));
    text.lines().skip(line).limit(lines).forEach(each -> read.append(each).append('\n'));
    return read.toString();
  }

  /** All problems of a quoted text are reported at the quotes. */
  private static List<Problem> moved(List<Problem> problems, int line, int column) {
    List<Problem> moved = new ArrayList<>();
    for (Problem problem : problems) {
      String where =
          problem.line() == 0
              ? ""
              : " (at " + problem.line() + ":" + problem.column() + " of this text)";
      moved.add(
          new Problem(
              problem.severity(),
              problem.file(),
              line,
              column,
              problem.message() + where,
              problem.hint()));
    }
    return moved;
  }
}
