package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** What editors and readers are told of the keys is what {@link Key} says, and is true. */
class SchemaTest {
  private static final Path DOCS = Path.of(System.getProperty("ipmasq.project", ".."), "docs");
  private static final String SCHEMA = "ip-masq-agent.schema.json";

  static final List<Key<?>> KEYS = Key.ALL;

  @TempDir Path directory;

  @Test
  void theSchemaIsMadeOfTheKeys() throws IOException {
    Map<String, Object> properties = new LinkedHashMap<>();
    Key.ALL.forEach(key -> properties.put(key.name(), property(key)));
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("$schema", "https://json-schema.org/draft/2020-12/schema");
    schema.put("title", "The config file of ip-masq-agent");
    schema.put(
        "description",
        "Which traffic keeps its source address when it leaves the node, and what becomes of the"
            + " rest.");
    schema.put("type", List.of("object", "null"));
    schema.put("additionalProperties", false);
    schema.put("properties", properties);
    String text = pretty(schema, "") + "\n";
    Path made = Files.writeString(Path.of("target", SCHEMA), text);
    assertEquals(
        text, Files.readString(DOCS.resolve(SCHEMA)), "cp agent/" + made + " docs/" + SCHEMA);
  }

  private static <T> Map<String, Object> property(Key<T> key) {
    Map<String, Object> property = new LinkedHashMap<>();
    property.put(
        "description",
        key.text().substring(0, 1).toUpperCase(Locale.ROOT)
            + key.text().substring(1).replace("`", "")
            + "."
            + key.flag()
                .filter(Key.KeyFlag::wins)
                .map(flag -> " The flag --" + flag.name() + " wins over this.")
                .orElse(""));
    property.putAll(key.type().schema());
    if (!key.equals(Key.CIDR_LIMIT) && !key.equals(Key.PROBATION)) { // their defaults are none
      property.put("default", key.json(key.byDefault()));
    }
    property.put("examples", key.examples());
    return property;
  }

  /** Objects a member per line; lists of plain values on one. */
  private static String pretty(Object value, String indent) {
    String inner = indent + "  ";
    List<String> parts = new ArrayList<>();
    return switch (value) {
      case Optional<?> _ -> "null";
      case Map<?, ?> map -> {
        map.forEach((k, v) -> parts.add(inner + Json.write(k) + ": " + pretty(v, inner)));
        yield "{\n" + String.join(",\n", parts) + "\n" + indent + "}";
      }
      case List<?> list when list.stream().anyMatch(Map.class::isInstance) -> {
        list.forEach(v -> parts.add(inner + pretty(v, inner)));
        yield "[\n" + String.join(",\n", parts) + "\n" + indent + "]";
      }
      case List<?> list -> {
        list.forEach(v -> parts.add(pretty(v, inner)));
        yield "[" + String.join(", ", parts) + "]";
      }
      default -> Json.write(value);
    };
  }

  @Test
  void theTableOfKeysIsMadeOfTheKeys() throws IOException {
    List<String> rows = new ArrayList<>();
    for (Key<?> key : Key.ALL) {
      rows.add("`" + key + "` | " + byDefault(key) + " | " + key.text());
    }
    List<String> lines = Files.readAllLines(DOCS.resolve("configuration.md"));
    int table = lines.indexOf("| key | default | in short |");
    List<String> written =
        lines.subList(table + 2, table + 2 + Key.ALL.size()).stream()
            .map(
                line -> line.replaceAll("^\\| \\[(.*?)]\\(#[a-z0-9-]+\\) \\| (.*) \\|$", "$1 | $2"))
            .toList();
    assertEquals(String.join("\n", rows), String.join("\n", written));
  }

  private static <T> String byDefault(Key<T> key) {
    if (!key.defaultInWords().isEmpty()) {
      return key.defaultInWords();
    }
    Object value = key.json(key.byDefault());
    return switch (value) {
      case List<?> list -> String.join(", ", list.stream().map(v -> "`" + v + "`").toList());
      case String text -> "`" + text + "`";
      default -> value.toString();
    };
  }

  @ParameterizedTest
  @FieldSource("KEYS")
  void everyKeyHasItsSection(Key<?> key) throws IOException {
    assertEquals(
        1,
        Files.readAllLines(DOCS.resolve("configuration.md")).stream()
            .filter(line -> line.matches("### (.*, )?" + key + "(, .*)?"))
            .count());
  }

  @ParameterizedTest
  @FieldSource("KEYS")
  void examplesAreTaken(Key<?> key) {
    for (Object example : key.examples()) {
      String json = Json.write(example);
      new Reads(directory).config("{\"" + key + "\": " + json + ", \"backend\": \"nftables\"}");
    }
  }

  @ParameterizedTest
  @FieldSource("KEYS")
  void aValueIsReadAsItIsWritten(Key<?> key) {
    if (!key.equals(Key.CIDR_LIMIT) && !key.equals(Key.PROBATION)) { // their defaults are none
      assertEquals(
          Config.defaults(),
          new Reads(directory).config("{\"" + key + "\": " + byDefaultJson(key) + "}"));
    }
  }

  private static <T> String byDefaultJson(Key<T> key) {
    return Json.write(key.json(key.byDefault()));
  }
}
