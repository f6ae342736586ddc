package ipmasq.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import ipmasq.config.ParsedJson;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.log.LogEvent;
import ipmasq.status.Headline;
import ipmasq.sync.SyncReport.Basis;
import ipmasq.sync.Trigger;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The schema is sound, names what the code names, and {@code docs/json.md} names its parts. */
class OutputSchemaTest {
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
    assertEquals(words(LogEvent.Kind.values()), consts("logLine", "event"));
    assertEquals(
        Arrays.stream(Conflict.Kind.values()).map(Conflict.Kind::word).toList(),
        property("conflict", "kind").get("enum"));
    List<String> bases = Arrays.stream(Basis.values()).map(Basis::word).toList();
    assertEquals(bases, property("statusConfig", "basis").get("enum"));
    assertEquals(bases, property("logLine", "basis").get("enum"));
    assertEquals(words(Headline.Level.values()), property("status", "level").get("enum"));
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

  @Test
  void thePageNamesEveryDefinitionOfAnOutput() throws IOException {
    String page = Files.readString(OutputSchema.DOCS.resolve("json.md"));
    assertEquals(
        List.of(),
        definitions.keySet().stream()
            .filter(name -> name.endsWith("Output"))
            .filter(name -> !page.contains("`" + name + "`"))
            .toList());
  }
}
