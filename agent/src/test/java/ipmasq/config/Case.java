package ipmasq.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** A recorded case: what the Go agent did with flags and a file, and what this one must do. */
public record Case(Map<String, List<String>> fields) {
  /** What was recorded of the Go agent. */
  public static List<Case> all() {
    return in("/conformance/cases.jsonl");
  }

  /** What was added in the same form, by what is known of it. */
  public static List<Case> own() {
    return in("/conformance/own-cases.jsonl");
  }

  private static List<Case> in(String resource) {
    try (var in = Case.class.getResourceAsStream(resource)) {
      String text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
      return text.lines().map(Case::parse).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Every field is a text or a list of texts. */
  private static Case parse(String line) {
    Map<String, List<String>> fields = new HashMap<>();
    ParsedJson.map(ParsedJson.of(line))
        .forEach(
            (key, value) -> {
              List<String> values = new ArrayList<>();
              (value instanceof List<?> list ? list : List.of(String.valueOf(value)))
                  .forEach(each -> values.add(String.valueOf(each)));
              fields.put(key, values);
            });
    return new Case(fields);
  }

  public String name() {
    return text("name").orElseThrow();
  }

  public String here() {
    return text("here").orElseThrow();
  }

  public List<String> list(String field) {
    return fields.getOrDefault(field, List.of());
  }

  public boolean flag(String flag) {
    return list("flags").contains(flag);
  }

  /** The bytes of the file; nothing where there is none. */
  public Optional<byte[]> file() {
    return text("config")
        .map(text -> text.getBytes(StandardCharsets.UTF_8))
        .or(() -> text("configBase64").map(text -> Base64.getDecoder().decode(text)));
  }

  private Optional<String> text(String field) {
    return list(field).stream().findFirst();
  }

  @Override
  public String toString() {
    return name();
  }
}
