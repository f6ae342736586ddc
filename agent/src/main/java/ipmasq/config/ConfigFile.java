package ipmasq.config;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A snapshot of one config file: its own settings, before merging. */
record ConfigFile(Reading.SourceFile source, Map<Key<?>, Setting<?>> settings, Problems problems) {
  /** Parses a snapshot. A missing file has no settings and no problems. */
  static ConfigFile of(FileSnapshot file) {
    Reading.SourceFile source = new Reading.SourceFile(file.path(), file.bytes());
    if (file.bytes().isPresent()) {
      return parse(source, file.bytes().get().array());
    }
    Problems problems = new Problems(file.path().toString());
    file.problem().ifPresent(problems::add);
    return new ConfigFile(source, Map.of(), problems);
  }

  /** The setting of a key, or null if this file has none. */
  @SuppressWarnings("unchecked") // SettingsReader puts each setting under its own key.
  <T> @Nullable Setting<T> setting(Key<T> key) {
    return (Setting<T>) settings.get(key);
  }

  private static ConfigFile parse(Reading.SourceFile source, byte[] bytes) {
    String text = FileText.decode(bytes);
    if (!FileText.beginsWithBrace(text)) {
      return yaml(source, bytes, text);
    }
    Problems problems = new Problems(source.path().toString());
    try {
      Map<Key<?>, Setting<?>> settings = SettingsReader.read(new JsonTokens(text), true, problems);
      return new ConfigFile(source, settings, problems);
    } catch (SyntaxError notJson) {
      return yamlInBraces(source, bytes, text, notJson);
    }
  }

  private static ConfigFile yaml(Reading.SourceFile source, byte[] bytes, String text) {
    Problems problems = new Problems(source.path().toString());
    Map<Key<?>, Setting<?>> settings = Map.of();
    try {
      FileText.requirePrintable(bytes, text);
      YamlTokens tokens = new YamlTokens(text);
      settings = SettingsReader.read(tokens, false, problems);
      if (tokens.followed()) {
        problems.warning(
            tokens.line(),
            tokens.column(),
            "another document begins here; only the first is read",
            "remove the line \"---\" to make them one");
      }
    } catch (SyntaxError error) {
      error.reportTo(problems);
    }
    return new ConfigFile(source, settings, problems);
  }

  /** What looks like JSON may be a YAML flow map, but then nothing else may follow it. */
  private static ConfigFile yamlInBraces(
      Reading.SourceFile source, byte[] bytes, String text, SyntaxError notJson) {
    Problems problems = new Problems(source.path().toString());
    try {
      FileText.requirePrintable(bytes, text);
      YamlTokens tokens = new YamlTokens(text);
      Map<Key<?>, Setting<?>> settings = SettingsReader.read(tokens, false, problems);
      if (tokens.followed() || !text.stripLeading().startsWith("{") || notJson.atComment(text)) {
        throw notJson;
      }
      return new ConfigFile(source, settings, problems);
    } catch (SyntaxError error) {
      // A file that begins with {"key" is meant as JSON, so report JSON errors.
      Problems only = new Problems(source.path().toString());
      (meansJson(text) ? notJson : error).reportTo(only);
      return new ConfigFile(source, Map.of(), only);
    }
  }

  private static boolean meansJson(String text) {
    int at = text.indexOf('{') + 1;
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    return text.startsWith("\"", at) || text.startsWith("//", at) || text.startsWith("/*", at);
  }
}
