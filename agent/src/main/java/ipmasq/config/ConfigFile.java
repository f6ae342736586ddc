package ipmasq.config;

import ipmasq.config.Setting.Places;
import ipmasq.config.Value.Kind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One config file: its own settings, before they are merged with those of others. */
final class ConfigFile {
  private static final int MAX_MERGES = 100;
  private static final int LONGEST_GUESS = 50;

  private final Reading.SourceFile source;
  private final Problems problems;
  private final Map<Key<?>, Given> given = new LinkedHashMap<>();
  private final Map<Key<?>, Setting<?>> settings = new LinkedHashMap<>();
  private final List<Value> unknown = new ArrayList<>();
  private boolean braces;
  private int merges;

  /** A key in the file that is known. */
  private record Given(Value name, Value value, boolean merged) {}

  private ConfigFile(FileSnapshot file) {
    source = new Reading.SourceFile(file.path(), file.bytes());
    problems = new Problems(file.path().toString());
  }

  /** Parses a snapshot. A missing file has no settings and no problems. */
  static ConfigFile of(FileSnapshot file) {
    ConfigFile result = new ConfigFile(file);
    file.problem().ifPresent(result.problems::add);
    if (file.bytes().isPresent()) {
      try {
        String text = Document.decode(file.bytes().get().array());
        result.parse(text);
        result.problems.replaceHints(line -> pasted(text, line));
      } catch (SyntaxError error) {
        error.reportTo(result.problems);
      }
    }
    return result;
  }

  private void parse(String text) {
    try {
      read(Document.of(text));
    } catch (SyntaxError error) {
      error.reportTo(problems);
    }
  }

  /** What to do about a line with characters that word processors and wikis put into text. */
  private static Optional<String> pasted(String text, int line) {
    String content = text.lines().skip(Math.max(0, line - 1)).findFirst().orElse("");
    int comment = content.indexOf(" #");
    return (comment < 0 ? content : content.substring(0, comment))
        .codePoints()
        .mapToObj(
            c ->
                switch (c) {
                  case '\u2013', '\u2014', '\u2212' -> "a typographic dash for a plain -";
                  case '\u00a0', '\u202f' -> "a no-break space for a plain one";
                  case '\u201c', '\u201d', '\u201e', '\u2018', '\u2019' ->
                      "typographic quotes for plain ones";
                  default -> "";
                })
        .filter(what -> line > 0 && !what.isEmpty())
        .findFirst()
        .map(what -> "this line has " + what + ", as text from a wiki does: type it anew");
  }

  Reading.SourceFile source() {
    return source;
  }

  Problems problems() {
    return problems;
  }

  /** The setting of a key, or null if this file has none. */
  @SuppressWarnings("unchecked") // read() puts each setting under its own key
  <T> @Nullable Setting<T> setting(Key<T> key) {
    return (Setting<T>) settings.get(key);
  }

  private void read(Document document) {
    braces = document.braces();
    document.next().ifPresent(this::another);
    Value top = document.top().orElse(null);
    if (top == null || top.kind() == Kind.NULL) {
      return;
    }
    if (top.kind() != Kind.MAP) {
      problems.error(
          top, "the top of the file is " + top.phrase() + ", not keys with values", topHint(top));
      return;
    }
    entries(top, false);
    reportUnknown(top);
    given.forEach((key, it) -> settings.put(key, read(key, it)));
  }

  private void another(Document.Place place) {
    if (braces) {
      problems.error(
          place.line(), place.column(), "something follows the closing brace", "remove it");
    } else {
      problems.ignoredDocument(
          place,
          "another document begins here; only the first is read",
          "remove the line \"---\" to make them one");
    }
  }

  private static String topHint(Value top) {
    if (top.kind() == Kind.TEXT && isComment(top)) {
      return "a comment begins with #";
    }
    return top.kind() == Kind.TEXT && top.text().indexOf(':') > 0
        ? "a space belongs after the colon"
        : "write keys such as \"nonMasqueradeCIDRs:\"";
  }

  /** A comment of other languages, which YAML takes for a part of a key. */
  private static boolean isComment(Value text) {
    return text.text().startsWith("//") || text.text().startsWith("/*");
  }

  private void entries(Value map, boolean merged) {
    for (Value.Entry entry : map.entries()) {
      Value name = entry.name();
      switch (name.kind()) {
        case MERGE -> merge(entry.value());
        case TEXT, NUMBER, BOOLEAN ->
            Key.named(name.written())
                .ifPresentOrElse(
                    key -> put(key, new Given(name, entry.value(), merged)),
                    () -> unknown.add(name));
        case NULL, LIST, MAP ->
            problems.error(name, "a key is " + name.phrase() + ", not text", "write a name");
      }
    }
  }

  /** The maps under {@code <<} take its place: what comes later in the file wins. */
  private void merge(Value value) {
    if (++merges > MAX_MERGES) {
      problems.error(value, "too many merges", "write the keys out");
    } else if (value.kind() == Kind.MAP) {
      entries(value, true);
    } else if (value.kind() == Kind.LIST
        && value.elements().stream().allMatch(map -> map.kind() == Kind.MAP)) {
      // Earlier maps win over later ones: apply them last.
      value.elements().reversed().forEach(map -> entries(map, true));
    } else {
      problems.error(
          value,
          "map merge requires map or sequence of maps as the value",
          "write << with an alias of a map, such as \"<<: *common\"");
    }
  }

  /** The last one wins, as if the others had never been written. */
  private void put(Key<?> key, Given now) {
    if (!now.name.text().equals(key.name())) {
      problems.warning(
          now.name,
          "key " + Phrases.quoted(now.name.text()) + " is taken for " + key,
          "write \"" + key + "\"");
    }
    Given before = given.put(key, now);
    if (before == null || before.merged || now.merged) {
      return;
    }
    // The Go agents take the later in the alphabet of two spellings; and in JSON a null leaves
    // what was there. Nobody means either.
    boolean unclear =
        !before.name.text().equals(now.name.text())
            || braces && now.value.kind() == Kind.NULL && !(key.byDefault() instanceof List);
    if (unclear) {
      problems.error(
          now.name, key + " is given twice, at " + before.name.place() + " too", "remove one");
    } else {
      problems.warning(
          now.name,
          key + " is given twice; the one at " + now.name.place() + " counts",
          "remove the one at " + before.name.place());
    }
  }

  private <T> Setting<T> read(Key<T> key, Given it) {
    Places places = new Places();
    Optional<T> value =
        key.type().read(new ValueType.Input(key.name(), it.value, places, problems));
    return new Setting<>(key, it.name, value, places);
  }

  private void reportUnknown(Value top) {
    Optional<Value> kind = top.member("kind").filter(it -> it.kind() == Kind.TEXT);
    if (kind.isPresent() && top.member("apiVersion").isPresent()) {
      // A whole manifest instead of its content: one warning that says so, not one per key.
      boolean configMap = kind.get().text().equals("ConfigMap");
      problems.ignored(
          unknown.size(),
          unknown.getFirst(),
          "this looks like a whole "
              + Phrases.shortened(kind.get().text())
              + ", whose keys mean nothing here",
          configMap
              ? "put the content of its data.config key into this file"
              : "put keys such as \"nonMasqueradeCIDRs:\" into this file");
      return;
    }
    for (Value name : unknown) {
      if (braces && isComment(name)) {
        problems.error(name, "a comment of another language", "a comment begins with #");
      } else {
        problems.ignored(
            1,
            name,
            "unknown key " + Phrases.quoted(name.written()) + " is ignored",
            problems.wantsWarnings() ? keyHint(name) : "");
      }
    }
  }

  private static String keyHint(Value name) {
    if (isComment(name)) {
      return "a comment begins with #";
    }
    String key = name.written().strip();
    return key.length() < LONGEST_GUESS
        ? Nearest.to(key, Key.ALL.stream().map(Key::name).toList())
            .map(meant -> "did you mean " + meant + "?")
            .orElse("")
        : "";
  }
}
