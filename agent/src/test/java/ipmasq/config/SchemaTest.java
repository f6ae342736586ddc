package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.config.Token.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The schema that editors use knows the same keys, and shows only what the reader takes. */
class SchemaTest {
  private static final Path SCHEMA =
      Path.of(System.getProperty("ipmasq.project", ".."), "docs", "ip-masq-agent.schema.json");

  @TempDir Path directory;

  /** The text of the file between two tokens is what JSON says there. */
  private static String json(Tokens tokens, Token first) throws SyntaxError {
    StringBuilder out = new StringBuilder();
    List<Boolean> maps = new ArrayList<>();
    Token at = first;
    boolean value = true;
    do {
      out.append(
          switch (at.kind()) {
            case TEXT -> '"' + at.text().replace("\\", "\\\\").replace("\"", "\\\"") + '"';
            case LIST -> "[";
            case MAP -> "{";
            case LIST_END -> "]";
            case MAP_END -> "}";
            case NULL, BOOLEAN, NUMBER, MERGE, END -> at.text();
          });
      if (at.opens()) {
        maps.add(at.kind() == Kind.MAP);
        value = at.kind() != Kind.MAP;
      } else {
        if (at.closes()) {
          maps.removeLast();
          value = true;
        }
        if (!maps.isEmpty()) {
          out.append(maps.getLast() && !value ? ":" : ",");
          value = !maps.getLast() || !value;
          value = maps.getLast() ? value : true;
        }
      }
      at = maps.isEmpty() ? at : tokens.next();
    } while (!maps.isEmpty());
    return out.toString().replace(",]", "]").replace(",}", "}");
  }

  /** Each key's members: examples element by element, the rest whole. */
  private static Map<String, Map<String, List<String>>> properties()
      throws IOException, SyntaxError {
    Map<String, Map<String, List<String>>> properties = new LinkedHashMap<>();
    Tokens tokens = new JsonTokens(Files.readString(SCHEMA));
    tokens.next();
    for (Token at = tokens.next(); !at.text().equals("properties"); at = tokens.next()) {
      tokens.skip(tokens.next());
    }
    tokens.next();
    for (Token key = tokens.next(); key.kind() != Kind.MAP_END; key = tokens.next()) {
      Map<String, List<String>> members = new LinkedHashMap<>();
      tokens.next();
      for (Token at = tokens.next(); at.kind() != Kind.MAP_END; at = tokens.next()) {
        List<String> values = new ArrayList<>();
        Token first = tokens.next();
        if (at.text().equals("examples") || at.text().equals("enum")) {
          for (Token e = tokens.next(); e.kind() != Kind.LIST_END; e = tokens.next()) {
            values.add(json(tokens, e));
          }
        } else {
          values.add(json(tokens, first));
        }
        members.put(at.text(), values);
      }
      properties.put(key.text(), members);
    }
    return properties;
  }

  @Test
  void hasEveryKeyOnce() throws IOException, SyntaxError {
    assertEquals(Key.ALL.stream().map(Key::name).toList(), List.copyOf(properties().keySet()));
  }

  @Test
  void itsExamplesAreTaken() throws IOException, SyntaxError {
    Reads reads = new Reads(directory);
    for (var property : properties().entrySet()) {
      assertTrue(property.getValue().containsKey("description"), property.getKey());
      for (String example : property.getValue().get("examples")) {
        reads.config("{\"" + property.getKey() + "\": " + example + "}");
      }
    }
  }

  @Test
  void itsDefaultsAreTheDefaults() throws IOException, SyntaxError {
    StringBuilder file = new StringBuilder("{");
    properties()
        .forEach(
            (key, members) -> {
              if (members.containsKey("default")) {
                file.append(file.length() > 1 ? "," : "");
                file.append('"')
                    .append(key)
                    .append("\":")
                    .append(members.get("default").getFirst());
              }
            });
    assertEquals(Config.defaults(), new Reads(directory).config(file + "}"));
  }

  @Test
  void itsChoicesAreAllThereAre() throws IOException, SyntaxError {
    Reads reads = new Reads(directory);
    for (String key : List.of("backend", "conntrack")) {
      List<String> choices = properties().get(key).get("enum");
      choices.forEach(choice -> reads.config("{\"" + key + "\": " + choice + "}"));
      String problem = reads.problems(key + ": other\n");
      String known = problem.substring(problem.indexOf("write one of ") + 13).replace(")", "");
      assertEquals(choices.size() - 1, known.split(", ").length, "null is no word: " + problem);
    }
  }
}
