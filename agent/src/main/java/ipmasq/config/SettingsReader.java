package ipmasq.config;

import ipmasq.config.Setting.Places;
import ipmasq.config.Token.TokenKind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The map at the top of a file, its keys decoded one after the other as they come.
 *
 * <p>Duplicate keys: in YAML the last one wins, as if the others had never been written; JSON is
 * applied in turn, so that an error in the first remains one, and a {@code null} leaves what was
 * there. Two spellings of one key are two keys to YAML: they are applied in turn as well, in the
 * order of the alphabet, since that is how the Go agents do it.
 */
final class SettingsReader {
  private static final Set<String> MANIFEST =
      Set.of("apiVersion", "kind", "metadata", "data", "binaryData", "immutable");
  private static final int MAX_MERGES = 100;
  private static final int LONGEST_GUESS = 50;

  private final boolean json;
  private final Problems problems;
  private final Map<Key<?>, Setting<?>> settings = new LinkedHashMap<>();
  private final List<Token> manifestKeys = new ArrayList<>();
  private boolean configMap;
  private int merges;

  private SettingsReader(boolean json, Problems problems) {
    this.json = json;
    this.problems = problems;
  }

  /** The settings of a document; what is wrong with them goes to {@code problems}. */
  static Map<Key<?>, Setting<?>> read(Tokens tokens, boolean json, Problems problems)
      throws SyntaxError {
    SettingsReader reader = new SettingsReader(json, problems);
    try {
      reader.top(tokens);
    } finally {
      reader.reportManifest();
      reader.settings.values().forEach(setting -> problems.addAll(setting.problems()));
    }
    return reader.settings;
  }

  private void top(Tokens tokens) throws SyntaxError {
    Token first = tokens.next();
    switch (first.kind()) {
      case END -> {}
      case NULL -> tokens.next();
      case MAP -> {
        entries(tokens, false);
        tokens.next(); // JSON: nothing may follow
      }
      case BOOLEAN, NUMBER, TEXT, MERGE, LIST, LIST_END, MAP_END ->
          problems.error(
              first,
              "the top of the file is " + first.phrase() + ", not keys with values",
              topHint(first));
    }
  }

  private static String topHint(Token first) {
    if (first.kind() == TokenKind.TEXT && first.text().startsWith("//")) {
      return "a comment begins with #";
    }
    return first.kind() == TokenKind.TEXT && first.text().indexOf(':') > 0
        ? "a space belongs after the colon"
        : "write keys such as \"nonMasqueradeCIDRs:\"";
  }

  private void entries(Tokens tokens, boolean merged) throws SyntaxError {
    for (Token key = tokens.next(); key.kind() != TokenKind.MAP_END; key = tokens.next()) {
      switch (key.kind()) {
        case MERGE -> merge(tokens);
        case TEXT, NUMBER, BOOLEAN -> entry(key, tokens, merged);
        case NULL, LIST, MAP, LIST_END, MAP_END, END -> {
          problems.error(key, "a key is " + key.phrase() + ", not text", "write a name");
          tokens.skip(key);
          tokens.skip(tokens.next());
        }
      }
    }
  }

  private void entry(Token name, Tokens tokens, boolean merged) throws SyntaxError {
    Optional<Key<?>> key = Key.named(name.text());
    Token first = tokens.next();
    if (key.isPresent()) {
      put(set(key.get(), name, first, tokens, merged));
      return;
    }
    configMap |= name.text().equals("kind") && first.text().equals("ConfigMap");
    if (MANIFEST.contains(name.text()) && manifestKeys.size() < MANIFEST.size()) {
      manifestKeys.add(name);
    } else {
      unknown(name);
    }
    tokens.skip(first);
  }

  private <T> Setting<T> set(Key<T> key, Token name, Token first, Tokens tokens, boolean merged)
      throws SyntaxError {
    Problems own = new Problems(problems.file());
    Places places = new Places();
    Optional<T> value =
        key.type().read(new ValueType.Input(key.name(), first, tokens, places, own));
    return new Setting<>(key, name, value, places, merged, own);
  }

  private void put(Setting<?> setting) {
    Key<?> key = setting.key();
    Setting<?> before = settings.get(key);
    if (!setting.exact()) {
      problems.warning(
          setting.at(),
          "key " + Phrases.quoted(setting.at().text()) + " is taken for " + key,
          "write \"" + key + "\"");
    }
    if (before == null) {
      settings.put(key, setting);
      return;
    }
    int order = setting.at().text().compareTo(before.at().text());
    boolean keep = !json && order < 0;
    Setting<?> counts = keep ? before : setting;
    Setting<?> overlaid = keep ? setting : before;
    if (!setting.merged() && !before.merged()) {
      problems.warning(
          setting.at(),
          key + " is given twice; the one at " + counts.place() + " counts",
          "remove the one at " + overlaid.place());
    }
    if (json || order != 0) {
      counts.problems().addAll(overlaid.problems());
      counts = counts.value().isEmpty() ? joined(overlaid, counts) : counts;
    }
    settings.put(key, counts);
  }

  private static <T> Setting<T> joined(Setting<T> value, Setting<?> last) {
    return new Setting<>(
        value.key(), value.at(), value.value(), value.places(), false, last.problems());
  }

  /** The maps under {@code <<} take its place: what comes later in the file wins. */
  private void merge(Tokens tokens) throws SyntaxError {
    Token first = tokens.next();
    if (++merges > MAX_MERGES) {
      throw new SyntaxError(first.line(), first.column(), "too many merges", "write the keys out");
    }
    switch (first.kind()) {
      case MAP -> entries(tokens, true);
      case LIST -> {
        // Earlier maps win over later ones: apply them last.
        Deque<Tokens> maps = new ArrayDeque<>();
        for (Token at = tokens.next(); at.kind() != TokenKind.LIST_END; at = tokens.next()) {
          if (at.kind() == TokenKind.MAP) {
            maps.push(recorded(tokens));
          } else {
            cannotMerge(at, tokens);
          }
        }
        for (Tokens map : maps) {
          entries(map, true);
        }
      }
      case NULL, BOOLEAN, NUMBER, TEXT, MERGE, LIST_END, MAP_END, END -> cannotMerge(first, tokens);
    }
  }

  private void cannotMerge(Token value, Tokens tokens) throws SyntaxError {
    problems.error(
        value,
        "map merge requires map or sequence of maps as the value",
        "write << with an alias of a map, such as \"<<: *common\"");
    tokens.skip(value);
  }

  /** The rest of a map that has just begun. */
  private static Tokens recorded(Tokens tokens) throws SyntaxError {
    List<Token> steps = new ArrayList<>();
    int depth = 1;
    while (depth > 0) {
      Token token = tokens.next();
      steps.add(token);
      depth += token.opens() ? 1 : token.closes() ? -1 : 0;
    }
    return steps.iterator()::next;
  }

  private void unknown(Token name) {
    String key = name.text();
    Optional<String> meant = Optional.empty();
    if (key.length() < LONGEST_GUESS && problems.wantsWarnings()) {
      List<String> names = new ArrayList<>();
      Key.ALL.forEach(known -> names.add(known.name()));
      meant = Nearest.to(key.strip(), names);
    }
    problems.warning(
        name,
        "unknown key " + Phrases.quoted(key) + " is ignored",
        meant.isPresent() ? "did you mean " + meant.get() + "?" : "");
  }

  /** A whole manifest instead of its content: one warning that says so, not one per key. */
  private void reportManifest() {
    if (configMap && !manifestKeys.isEmpty()) {
      problems.warning(
          manifestKeys.getFirst(),
          "this looks like a whole ConfigMap, whose keys mean nothing here",
          "put the content of its data.config key into this file");
    } else {
      manifestKeys.forEach(this::unknown);
    }
  }
}
