package ipmasq.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import ipmasq.config.ParsedJson;
import ipmasq.hook.Conflict;
import ipmasq.log.LogEvent;
import ipmasq.loop.Pass.Basis;
import ipmasq.loop.Trigger;
import ipmasq.status.State;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The schema is sound, names what the code names, and {@code docs/json.md} is made of it. */
class OutputSchemaTest {
  private static final String MADE = "<!-- made of schema/output.schema.json -->\n";

  private final Map<String, @Nullable Object> schema =
      ParsedJson.map(ParsedJson.of(OutputSchema.text()));
  private final Map<String, @Nullable Object> definitions = ParsedJson.map(schema.get("$defs"));

  @Test
  void itIsASchema() {
    assertEquals("", OutputSchema.errors());
  }

  @Test
  void aFieldThatIsNotDocumentedFails() {
    OutputSchema.check("error", "{\"error\":\"no\"}");
    assertFalse(OutputSchema.errors("error", "{\"error\":\"no\",\"more\":1}").isEmpty());
    assertFalse(OutputSchema.errors("error", "{}").isEmpty());
    assertFalse(
        OutputSchema.errors("cleanupOutput", "{\"changes\":[{}],\"failures\":[]}").isEmpty());
  }

  @Test
  void itSpellsWordsAsTheCodeDoes() {
    assertEquals(words(LogEvent.LogEventKind.values()), consts("logLine", "event"));
    assertEquals(
        Arrays.stream(Conflict.ConflictKind.values()).map(Conflict.ConflictKind::word).toList(),
        property("conflict", "kind").get("enum"));
    List<String> bases = Arrays.stream(Basis.values()).map(Basis::word).toList();
    assertEquals(bases, property("statusConfig", "basis").get("enum"));
    assertEquals(bases, property("logLine", "basis").get("enum"));
    assertEquals(words(State.StateLevel.values()), property("status", "level").get("enum"));
    String trigger = "(" + String.join("|", words(Trigger.values())) + ")";
    assertEquals(
        "^" + trigger + "(, " + trigger + ")*$", property("lastPass", "trigger").get("pattern"));
  }

  private static List<String> words(Object[] values) {
    return Arrays.stream(values).map(Object::toString).toList();
  }

  private List<String> consts(String definition, String property) {
    return ParsedJson.maps(property(definition, property).get("oneOf")).stream()
        .map(each -> String.valueOf(each.get("const")))
        .toList();
  }

  private Map<String, @Nullable Object> property(String definition, String name) {
    return ParsedJson.map(ParsedJson.map(definition(definition).get("properties")).get(name));
  }

  private Map<String, @Nullable Object> definition(String name) {
    return ParsedJson.map(definitions.get(name));
  }

  /** Everything below the mark comes from here; above it people write. */
  @Test
  void thePageIsMadeOfTheSchema() throws IOException {
    Path page = OutputSchema.DOCS.resolve("json.md");
    String text = Files.readString(page);
    String made = text.substring(0, text.indexOf(MADE)) + MADE + sections();
    Path file = Files.writeString(Path.of("target", "json.md"), made);
    assertEquals(made, text, "cp agent/" + file + " docs/json.md");
  }

  private String sections() {
    StringBuilder page = new StringBuilder("\n| who writes it | what |\n|---|---|\n");
    definitions.forEach(
        (name, _) -> {
          if (name.endsWith("Output")) {
            Map<String, @Nullable Object> output = definition(name);
            page.append("| ").append(output.get("description")).append(" | ").append(type(output));
            page.append(" |\n");
          }
        });
    definitions.forEach(
        (name, _) -> {
          if (!name.endsWith("Output")) {
            section(page, definition(name));
          }
        });
    return page.toString();
  }

  private void section(StringBuilder page, Map<String, @Nullable Object> object) {
    page.append("\n## ").append(object.get("title")).append("\n\n");
    if (object.containsKey("description")) {
      page.append(object.get("description")).append("\n\n");
    }
    page.append("| field | type | what |\n|---|---|---|\n");
    List<?> required = (List<?>) Objects.requireNonNull(object.get("required"));
    List<Map<String, @Nullable Object>> listed = new ArrayList<>();
    ParsedJson.map(object.get("properties"))
        .forEach(
            (name, value) -> {
              Map<String, @Nullable Object> field = ParsedJson.map(value);
              page.append("| `").append(name).append("` | ").append(type(field));
              page.append(required.contains(name) ? "" : ", optional");
              page.append(" | ").append(field.get("description")).append(" |\n");
              if (isList(field)) {
                listed.addAll(ParsedJson.maps(field.get("oneOf")));
              }
            });
    if (!listed.isEmpty()) {
      page.append("\n| event | what happened, and further fields |\n|---|---|\n");
      for (Map<String, @Nullable Object> each : listed) {
        page.append("| `").append(each.get("const")).append("` | ");
        page.append(each.get("description")).append(" |\n");
      }
    }
  }

  /** Words that are described one by one, below the table. */
  private static boolean isList(Map<String, @Nullable Object> field) {
    return field.containsKey("oneOf")
        && ParsedJson.maps(field.get("oneOf")).getFirst().containsKey("const");
  }

  private String type(Map<String, @Nullable Object> value) {
    if (isList(value)) {
      return "string, see below";
    }
    if (value.containsKey("oneOf")) {
      return ParsedJson.maps(value.get("oneOf")).stream()
          .map(this::type)
          .collect(Collectors.joining(" or "));
    }
    if (value.get("$ref") instanceof String ref) {
      String title = String.valueOf(definition(ref.replace("#/$defs/", "")).get("title"));
      String anchor = title.toLowerCase(Locale.ROOT).replace(' ', '-');
      return "[" + title.toLowerCase(Locale.ROOT) + "](#" + anchor + ")";
    }
    if (value.get("enum") instanceof List<?> words) {
      return words.stream()
          .map(word -> word == null ? "null" : "`" + word + "`")
          .collect(Collectors.joining(", "));
    }
    if (value.containsKey("const")) {
      return String.valueOf(value.get("const"));
    }
    if (value.get("items") != null) {
      return "array of " + type(ParsedJson.map(value.get("items")));
    }
    if (value.get("additionalProperties") instanceof Map<?, ?> each) {
      return "object, each value a " + type(ParsedJson.map(each));
    }
    String words =
        value.get("type") instanceof List<?> types
            ? types.stream().map(String::valueOf).collect(Collectors.joining(" or "))
            : String.valueOf(value.get("type"));
    return "date-time".equals(value.get("format")) ? words.replace("string", "time") : words;
  }
}
