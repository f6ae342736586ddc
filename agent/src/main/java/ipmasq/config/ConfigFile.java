package ipmasq.config;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A config file as it was at one moment: its settings, each on its own, before they overlay
 * anything.
 */
record ConfigFile(Reading.Source source, Map<Key<?>, Setting<?>> settings, Problems problems) {
  private static final int DIGEST_BYTES = 6;

  /** Reads one file. A missing file has no settings and no problems. */
  static ConfigFile read(Path path) {
    Problems problems = new Problems(path.toString());
    byte[] bytes;
    try {
      bytes = Files.readAllBytes(path);
    } catch (NoSuchFileException _) {
      return new ConfigFile(new Reading.Source(path, Optional.empty()), Map.of(), problems);
    } catch (IOException | OutOfMemoryError e) {
      problems.error(0, 0, "cannot be read: " + reason(path, e), "check the path and its mount");
      return new ConfigFile(new Reading.Source(path, Optional.empty()), Map.of(), problems);
    }
    return parse(path, bytes, problems);
  }

  /** The setting of a key, or null where this file has none. */
  @SuppressWarnings("unchecked") // Document puts each setting under its own key.
  <T> @Nullable Setting<T> setting(Key<T> key) {
    return (Setting<T>) settings.get(key);
  }

  /** The elements that this file gives for a key. */
  <T> Listed<T> listed(Key<Listed<T>> key) {
    Setting<Listed<T>> setting = setting(key);
    return setting == null ? new Listed<>() : setting.value().orElseGet(Listed::new);
  }

  /** Where an element stands: {@code path:line:column}. */
  String place(Listed<?> listed, int i) {
    return source.path() + ":" + listed.line(i) + ":" + listed.column(i);
  }

  private static ConfigFile parse(Path path, byte[] bytes, Problems problems) {
    Reading.Source source = new Reading.Source(path, Optional.of(digest(bytes)));
    String text = FileText.decode(bytes);
    if (FileText.beginsWithBrace(text)) {
      Problems json = new Problems(path.toString());
      try {
        return new ConfigFile(source, Document.read(new JsonTokens(text), true, json), json);
      } catch (SyntaxError error) {
        return yaml(source, bytes, text, Optional.of(error), problems);
      }
    }
    return yaml(source, bytes, text, Optional.empty(), problems);
  }

  /** YAML, or what looked like JSON and may be YAML all the same. */
  private static ConfigFile yaml(
      Reading.Source source,
      byte[] bytes,
      String text,
      Optional<SyntaxError> notJson,
      Problems problems) {
    Map<Key<?>, Setting<?>> settings = Map.of();
    try {
      FileText.requirePrintable(bytes, text);
      YamlTokens tokens = new YamlTokens(text);
      settings = Document.read(tokens, false, problems);
      if (tokens.more()) {
        problems.warning(
            tokens.line(),
            tokens.column(),
            "another document begins here; only the first is read",
            "remove the line \"---\" to make them one");
      }
    } catch (SyntaxError error) {
      // Whoever writes {"key" means JSON, and wants to hear of JSON.
      notJson.filter(_ -> meansJson(text)).orElse(error).reportTo(problems);
    }
    return new ConfigFile(source, settings, problems);
  }

  private static boolean meansJson(String text) {
    int at = text.indexOf('{') + 1;
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    return text.startsWith("\"", at);
  }

  private static String reason(Path path, Throwable e) {
    if (Files.isDirectory(path)) {
      return "it is a directory";
    }
    if (e instanceof AccessDeniedException) {
      return "permission denied";
    }
    String message = e.getMessage();
    return message == null ? "input or output error" : Words.shortened(message);
  }

  private static String digest(byte[] bytes) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
      return HexFormat.of().formatHex(digest, 0, DIGEST_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
