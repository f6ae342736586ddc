package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** What editors and readers are told of the keys is what {@link Key} says. */
class SchemaTest {
  private static final Path DOCS = Path.of(System.getProperty("ipmasq.project", ".."), "docs");
  private static final Path SCHEMA = DOCS.resolve("ip-masq-agent.schema.json");

  static final List<Key<?>> KEYS = Key.ALL;

  @TempDir Path directory;

  @Test
  void theSchemaHasTheKeys() throws IOException {
    Map<String, Object> schema = ParsedJson.map(ParsedJson.of(Files.readString(SCHEMA)));
    assertEquals("false", schema.get("additionalProperties"));
    Map<String, Object> properties = ParsedJson.map(schema.get("properties"));
    assertEquals(
        Key.ALL.stream().map(Key::name).toList(), List.copyOf(properties.keySet()), "" + SCHEMA);
    Key.ALL.forEach(key -> isDescribed(key, ParsedJson.map(properties.get(key.name()))));
  }

  private static <T> void isDescribed(Key<T> key, Map<String, Object> property) {
    assertEquals(
        key.text().substring(0, 1).toUpperCase(Locale.ROOT)
            + key.text().substring(1).replace("`", "")
            + "."
            + key.flag()
                .filter(Key.KeyFlag::wins)
                .map(flag -> " The flag --" + flag.name() + " wins over this.")
                .orElse(""),
        property.get("description"));
    if (!key.equals(Key.CIDR_LIMIT) && !key.equals(Key.PROBATION)) { // their defaults are none
      assertEquals(ParsedJson.of(byDefaultJson(key)), property.get("default"), key.name());
    }
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
