package ipmasq.config;

import ipmasq.config.Problem.Place;
import ipmasq.config.Reading.Gap;
import ipmasq.config.Value.Kind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.nodes.Node;

/**
 * Makes a config from files: composes each to nodes, decodes the values of known keys, puts them
 * over the flags' defaults, and checks whether all of it makes sense together.
 */
public final class ConfigReader {
  private static final int MAX_MERGES = 100;
  private static final int LONGEST_GUESS = 50;

  private final FlagDefaults flags;
  private final Problems problems = new Problems();
  private final List<Setting<?>> settings = new ArrayList<>();
  private final Map<Key<?>, List<Place>> places = new LinkedHashMap<>();
  private int values;
  private int ignoredKeys;
  private boolean ignoredDocument;
  private Optional<Place> firstIgnored = Optional.empty();
  private Config config;

  // Of the file that is being read.
  private Map<Key<?>, Given> given = new LinkedHashMap<>();
  private List<Value> unknown = new ArrayList<>();
  private int merges;

  /** A known key in a file. */
  private record Given(Value name, Value value, boolean merged) {}

  /**
   * A key in a file and its value.
   *
   * @param value empty if the file leaves the default in place, or if the value is invalid
   * @param elements the nodes of a list's elements
   */
  record Setting<T>(Key<T> key, Place at, Optional<T> value, List<Node> elements) {}

  private ConfigReader(FlagDefaults flags) {
    this.flags = flags;
    this.config = flags.config();
  }

  /** Reads a file or a directory once; a missing file is the flags' defaults as they are. */
  public static Reading read(Path path, FlagDefaults flags) {
    return read(new ConfigPaths(List.of(path), ConfigPaths.IfMissing.DEFAULTS).read(), flags);
  }

  /**
   * Reads several files as one config. Lists are united in the order of the files; contradictions
   * between files are an error.
   */
  public static Reading read(List<FileSnapshot> files, FlagDefaults flags) {
    ConfigReader reader = new ConfigReader(flags);
    files.forEach(reader::file);
    reader.settings.forEach(reader::apply);
    Optional<Place> file =
        files.stream()
            .filter(FileSnapshot::isThere)
            .findFirst()
            .map(each -> Place.of(each.path().toString()));
    new ConfigChecks(reader.settings, flags, reader.config, file, reader.problems).check();
    return reader.reading(files);
  }

  private Reading reading(List<FileSnapshot> files) {
    Gap gap = gap();
    if (config.of(Key.STRICT) && !gap.isNone()) {
      problems.error(
          Place.of(firstIgnored.orElseThrow().file()),
          gap.phrase()
                  .replace(": the default list applies", "")
                  .replaceAll("(was|were) ignored", "would be ignored")
              + ", which strict forbids",
          "correct or remove it, or switch strict off");
    }
    List<Problem> all =
        problems.list(files.stream().map(file -> file.path().toString()).distinct().toList());
    return problems.anyError()
        ? new Reading.Rejected(all, files)
        : new Reading.Read(config, all, files, places, gap);
  }

  private Gap gap() {
    List<String> ignored = new ArrayList<>();
    if (ignoredKeys > 0) {
      ignored.add(
          ignoredKeys == 1
              ? "1 key of the file was ignored"
              : ignoredKeys + " keys of the file were ignored");
    }
    if (ignoredDocument) {
      ignored.add("all but the first document of the file was ignored");
    }
    boolean byDefault = !ignored.isEmpty() && !places.containsKey(Key.NON_MASQUERADE_CIDRS);
    return new Gap(
        ignoredKeys, String.join(", ", ignored) + (byDefault ? ": the default list applies" : ""));
  }

  private void file(FileSnapshot file) {
    String name = file.path().toString();
    file.problem().ifPresent(problems::add);
    Optional<String> text = file.text(problems);
    text.flatMap(it -> document(name, it)).ifPresent(this::top);
    text.ifPresent(it -> problems.replaceHints(name, problem -> pasted(it, problem)));
  }

  /** The first document of a text. */
  private Optional<Value> document(String file, String text) {
    try {
      Yaml documents = Yaml.of(file, text, values);
      Optional<Value> first =
          documents.hasNext() ? Optional.of(Value.of(documents.next())) : Optional.empty();
      values = documents.values();
      if (documents.hasNext()) {
        ignoredDocument = true;
        ignored(
            documents.place(),
            "another document begins here; only the first is read",
            "remove the line \"---\" to make them one");
      }
      return first;
    } catch (RuntimeException e) { // the engine has many
      Yaml.report(e, file, text, problems);
      return Optional.empty();
    }
  }

  /** What editors, wikis and other languages put into a line. */
  private static final Map<String, String> PASTED =
      Map.of(
          ".*[\u2013\u2014\u2212].*", "a typographic dash for a plain -",
          ".*[\u00a0\u202f].*", "a no-break space for a plain one",
          ".*[\u2018\u2019\u201c-\u201e].*", "typographic quotes for plain ones");

  /** What to do about them. */
  private static Optional<String> pasted(String text, Problem problem) {
    String comment = "(.*\\s)?(//|/\\*).*";
    String line =
        text.lines()
            .skip(Math.max(0, problem.line() - 1))
            .findFirst()
            .orElse("")
            .replaceFirst("(^|\\s)#.*", "");
    if (line.matches(comment)
        // The engine may notice it later.
        || problem.message().startsWith("not YAML")
            && text.lines().anyMatch(each -> each.matches(comment))) {
      return Optional.of("a comment begins with #");
    }
    return PASTED.entrySet().stream()
        .filter(each -> problem.line() > 0 && line.matches(each.getKey()))
        .findFirst()
        .map(
            each ->
                "this line has " + each.getValue() + ", as text from a wiki does: type it again");
  }

  private void top(Value top) {
    given = new LinkedHashMap<>();
    unknown = new ArrayList<>();
    merges = 0;
    if (top.kind() == Kind.MAP) {
      entries(top, false);
      reportUnknown(top);
      given.forEach((key, it) -> settings.add(setting(key, it)));
    } else if (top.kind() != Kind.NULL) {
      problems.error(
          top.place(),
          "the top of the file is " + top.phrase() + ", not keys with values",
          top.kind() == Kind.TEXT && top.text().indexOf(':') > 0
              ? "a space belongs after the colon"
              : "write keys such as \"nonMasqueradeCIDRs:\"");
    }
  }

  private void entries(Value map, boolean merged) {
    for (Value.Entry entry : map.entries()) {
      Value name = entry.name();
      switch (name.kind()) {
        case MERGE -> merge(entry.value());
        case TEXT, NUMBER, BOOLEAN ->
            Key.named(name.text())
                .ifPresentOrElse(
                    key -> put(key, new Given(name, entry.value(), merged)),
                    () -> unknown.add(name));
        case NULL, LIST, MAP ->
            problems.error(
                name.place(), "a key is " + name.phrase() + ", not text", "write a name");
      }
    }
  }

  /** The maps under {@code <<} take its place: what comes later in the file wins. */
  private void merge(Value value) {
    List<Value> maps =
        value.kind() == Kind.MAP
            ? List.of(value)
            : value.elements().stream().map(Value::of).toList();
    if (++merges > MAX_MERGES) {
      problems.error(value.place(), "too many merges", "write the keys out");
    } else if (maps.isEmpty() || maps.stream().anyMatch(map -> map.kind() != Kind.MAP)) {
      problems.error(
          value.place(),
          "map merge requires map or sequence of maps as the value",
          "write << with an alias of a map, such as \"<<: *common\"");
    } else {
      // Earlier maps win over later ones: apply them last.
      maps.reversed().forEach(map -> entries(map, true));
    }
  }

  /** The last one wins, as if the others had never been written. */
  private void put(Key<?> key, Given now) {
    if (!now.name.text().equals(key.name())) {
      problems.warning(
          now.name.place(),
          "key " + Words.quoted(now.name.text()) + " is taken for " + key,
          "write \"" + key + "\"");
    }
    Given before = given.put(key, now);
    if (before == null || before.merged || now.merged) {
      return;
    }
    // The Go agents take the later in the alphabet of two spellings; and in JSON a null leaves
    // what was there. Nobody means either.
    String twice = key + " is given twice, at " + before.name.place() + " too";
    if (!before.name.text().equals(now.name.text())
        || now.value.kind() == Kind.NULL && !(key.byDefault() instanceof List)) {
      problems.error(now.name.place(), twice, "remove one");
    } else {
      problems.warning(now.name.place(), twice + "; this one counts", "remove the other");
    }
  }

  private void reportUnknown(Value top) {
    ignoredKeys += unknown.size();
    Optional<Value> kind = top.member("kind").filter(it -> it.kind() == Kind.TEXT);
    if (kind.isPresent() && top.member("apiVersion").isPresent()) {
      // A whole manifest instead of its content: one warning that says so, not one per key.
      ignored(
          unknown.getFirst().place(),
          "this looks like a whole "
              + Words.shortened(kind.get().text())
              + ", whose keys mean nothing here",
          kind.get().text().equals("ConfigMap")
              ? "put the content of its data.config key into this file"
              : "put keys such as \"nonMasqueradeCIDRs:\" into this file");
      return;
    }
    for (Value name : unknown) {
      String word = name.text().strip();
      ignored(
          name.place(),
          "unknown key " + Words.quoted(name.text()) + " is ignored",
          (word.length() < LONGEST_GUESS
                  ? Words.nearest(word, Key.ALL.stream().map(Key::name).toList())
                  : Optional.<String>empty())
              .map(meant -> "did you mean " + meant + "?")
              .orElse(""));
    }
  }

  /** Reports what the config leaves out: a warning, unless the config is strict. */
  private void ignored(Place at, String message, String hint) {
    firstIgnored = firstIgnored.or(() -> Optional.of(at));
    problems.warning(at, message, hint);
  }

  private <T> Setting<T> setting(Key<T> key, Given it) {
    List<Node> elements = new ArrayList<>();
    Optional<T> value =
        key.type().decoder().decode(new Type.Input(key.name(), 0, it.value, elements, problems));
    return new Setting<>(key, it.name.place(), value, elements);
  }

  /** Puts a setting over the defaults, or together with that of an earlier file. */
  private <T> void apply(Setting<T> setting) {
    Key<T> key = setting.key();
    if (flags.fixed().contains(key)) {
      if (setting.value.equals(Optional.of(config.of(key)))) {
        return;
      }
      problems.warning(
          setting.at,
          key + " is ignored: the flag --" + key.flag().orElseThrow().name() + " wins",
          "remove the key or the flag");
    } else if (setting.value.isPresent()) {
      List<Place> earlier = places.computeIfAbsent(key, _ -> new ArrayList<>());
      Optional<T> both =
          earlier.isEmpty()
              ? setting.value
              : key.type().merge().merge(config.of(key), setting.value.get());
      if (both.isEmpty()) {
        problems.error(
            setting.at,
            key + " contradicts that of " + earlier.getFirst(),
            "give it in one file only");
      }
      earlier.add(setting.at);
      config = config.with(key, both.orElse(config.of(key)));
    }
  }
}
