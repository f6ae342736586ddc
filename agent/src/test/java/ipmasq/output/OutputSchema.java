package ipmasq.output;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.networknt.schema.InputFormat;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SpecVersion.VersionFlag;
import com.networknt.schema.ValidationMessage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/** What users are told that JSON of the agent looks like. */
public final class OutputSchema {
  static final Path DOCS = Path.of(System.getProperty("ipmasq.project", ".."), "docs");
  static final Path FILE = DOCS.resolve("schema/output.schema.json");

  private static final String ID = "urn:output";
  private static final JsonSchemaFactory FACTORY =
      JsonSchemaFactory.getInstance(
          VersionFlag.V202012,
          builder -> builder.schemaLoaders(loaders -> loaders.schemas(Map.of(ID, text()))));
  private static final Map<String, JsonSchema> KNOWN = new ConcurrentHashMap<>();

  private OutputSchema() {}

  static String text() {
    try {
      return Files.readString(FILE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Holds a text against a definition of the schema.
   *
   * @param definition such as {@code planOutput}
   */
  public static void check(String definition, String json) {
    assertEquals("", errors(definition, json), () -> definition + ": " + json);
  }

  /** What is wrong with it, a line each. */
  static String errors(String definition, String json) {
    JsonSchema schema =
        KNOWN.computeIfAbsent(
            definition, name -> FACTORY.getSchema(SchemaLocation.of(ID + "#/$defs/" + name)));
    return lines(schema.validate(json, InputFormat.JSON));
  }

  /** What is wrong with the schema itself. */
  static String errors() {
    return lines(
        FACTORY
            .getSchema(SchemaLocation.of("https://json-schema.org/draft/2020-12/schema"))
            .validate(text(), InputFormat.JSON));
  }

  private static String lines(Iterable<ValidationMessage> messages) {
    return StreamSupport.stream(messages.spliterator(), false)
        .map(ValidationMessage::toString)
        .sorted()
        .collect(Collectors.joining("\n"));
  }
}
