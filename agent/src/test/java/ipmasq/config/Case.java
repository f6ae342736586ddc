package ipmasq.config;

import ipmasq.config.Token.Kind;
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
  public static List<Case> all() {
    try (var in = Case.class.getResourceAsStream("/conformance/cases.jsonl")) {
      String text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
      return text.lines().map(Case::parse).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Every field is a text or a list of texts. */
  private static Case parse(String line) {
    try {
      Tokens tokens = new JsonTokens(line);
      Map<String, List<String>> fields = new HashMap<>();
      tokens.next();
      for (Token key = tokens.next(); key.kind() != Kind.MAP_END; key = tokens.next()) {
        List<String> values = new ArrayList<>();
        Token value = tokens.next();
        if (value.kind() == Kind.LIST) {
          for (Token at = tokens.next(); at.kind() != Kind.LIST_END; at = tokens.next()) {
            values.add(at.text());
          }
        } else {
          values.add(value.text());
        }
        fields.put(key.text(), values);
      }
      return new Case(fields);
    } catch (SyntaxError e) {
      throw new IllegalArgumentException(line, e);
    }
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
