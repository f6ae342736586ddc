package ipmasq.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.config.Problem.Severity;
import ipmasq.config.Value.Kind;
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

  private final FileSnapshot file;
  private final String text;
  private final Value manifest;

  private ConfigMapManifest(FileSnapshot file, String text, Value manifest) {
    this.file = file;
    this.text = text;
    this.manifest = manifest;
  }

  /**
   * Reads the config in a manifest, its problems with their places in the manifest's file and its
   * source with the bytes that nodes will see; empty if the file is no such manifest.
   */
  public static Optional<Reading> read(FileSnapshot file, FlagDefaults flags) {
    if (file.bytes().isEmpty()) {
      return Optional.empty();
    }
    String text = new String(file.bytes().get().array(), UTF_8);
    if (!text.contains("ConfigMap")) {
      return Optional.empty();
    }
    List<ConfigMapManifest> maps =
        Document.all(text).stream()
            .filter(
                document ->
                    document.member("kind").filter(k -> k.text().equals("ConfigMap")).isPresent())
            .map(document -> new ConfigMapManifest(file, text, document))
            .toList();
    return maps.stream()
        .filter(map -> map.config().isPresent())
        .findFirst()
        .or(() -> maps.stream().findFirst())
        .map(map -> map.read(flags));
  }

  private List<Value.Entry> data() {
    return manifest
        .member("data")
        .filter(data -> data.kind() == Kind.MAP)
        .map(Value::entries)
        .orElse(List.of());
  }

  /** The value of the key {@code config}, or else of a key named like our file. */
  private Optional<Value.Entry> config() {
    List<Value.Entry> texts =
        data().stream().filter(entry -> entry.value().node() instanceof ScalarNode).toList();
    return texts.stream()
        .filter(entry -> entry.name().text().equals(KEY))
        .findFirst()
        .or(
            () ->
                texts.stream()
                    .filter(entry -> entry.name().text().startsWith("ip-masq"))
                    .findFirst());
  }

  private Reading read(FlagDefaults flags) {
    return config().isPresent() ? read(config().get().value(), flags) : noConfig();
  }

  private Reading noConfig() {
    List<String> keys = data().stream().map(entry -> entry.name().text()).toList();
    return new Reading.Rejected(
        List.of(
            new Problem(
                Severity.ERROR,
                file.path().toString(),
                manifest.line(),
                manifest.column(),
                "this ConfigMap has no key "
                    + KEY
                    + (keys.isEmpty() ? "" : ", but " + String.join(", ", keys)),
                "put the config under data." + KEY)),
        List.of(new Reading.SourceFile(file.path(), Optional.empty())));
  }

  private Reading read(Value config, FlagDefaults flags) {
    String content = config.written();
    // If the manifest holds the config line by line, it is read in place, so that its places are
    // the manifest's: all lines above are blanked, and its own lines are indented.
    boolean inPlace =
        ((ScalarNode) config.node()).getScalarStyle() == ScalarStyle.LITERAL
            && content.lines().noneMatch(each -> each.startsWith("---") || each.startsWith("%"));
    String read = inPlace ? inPlace(config.line(), content.lines().count()) : content;
    Reading reading =
        ConfigReader.read(List.of(FileSnapshot.of(file.path(), read.getBytes(UTF_8))), flags);
    List<Reading.SourceFile> sources =
        List.of(
            new Reading.SourceFile(
                file.path(), Optional.of(new FileBytes(content.getBytes(UTF_8)))));
    return switch (reading) {
      case Reading.Read(var result, var warnings, var _, var places, var gap) -> {
        List<Problem> all = new ArrayList<>(unseen());
        all.addAll(inPlace ? warnings : moved(warnings, config));
        yield new Reading.Read(result, all, sources, places, gap);
      }
      case Reading.Rejected(var problems, var _) ->
          new Reading.Rejected(inPlace ? problems : moved(problems, config), sources);
    };
  }

  /** What keeps the agents of our manifest from seeing this ConfigMap. */
  private List<Problem> unseen() {
    List<Problem> problems = new ArrayList<>();
    Optional<Value> metadata = manifest.member("metadata");
    metadata
        .flatMap(it -> it.member("name"))
        .filter(it -> !it.text().equals(NAME) && !it.text().startsWith(NAME + "-"))
        .ifPresent(
            it ->
                problems.add(
                    warning(it, "the agent mounts the ConfigMap " + NAME, "name it " + NAME)));
    metadata
        .flatMap(it -> it.member("namespace"))
        .filter(it -> !it.text().equals(NAMESPACE))
        .ifPresent(
            it ->
                problems.add(
                    warning(
                        it,
                        "the agent runs in the namespace " + NAMESPACE + ", and sees no other",
                        "put it into " + NAMESPACE)));
    config()
        .map(Value.Entry::name)
        .filter(it -> !it.text().equals(KEY))
        .ifPresent(
            it ->
                problems.add(
                    warning(
                        it,
                        "the manifest mounts the key " + KEY + ", not " + it.text(),
                        "name the key " + KEY)));
    return problems;
  }

  private Problem warning(Value at, String message, String hint) {
    return new Problem(
        Severity.WARNING, file.path().toString(), at.line(), at.column(), message, hint);
  }

  private String inPlace(int line, long lines) {
    StringBuilder read = new StringBuilder("\n".repeat(line));
    text.lines().skip(line).limit(lines).forEach(each -> read.append(each).append('\n'));
    return read.toString();
  }

  /** All problems of a quoted text are reported at the quotes. */
  private static List<Problem> moved(List<Problem> problems, Value to) {
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
              to.line(),
              to.column(),
              problem.message() + where,
              problem.hint()));
    }
    return moved;
  }
}
