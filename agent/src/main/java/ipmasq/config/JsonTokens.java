package ipmasq.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.config.Token.Kind;
import ipmasq.json.JsonReader;
import ipmasq.json.JsonToken;
import ipmasq.json.MalformedJson;

/**
 * A strict JSON text. Most JSON is YAML too, but not all: a key and its colon on two lines, keys of
 * more than 1,024 characters, tabs, surrogate pairs. A file that begins with a brace is therefore
 * read by this first.
 */
final class JsonTokens implements Tokens {
  private final byte[] bytes;
  private final JsonReader reader;

  JsonTokens(String text) {
    bytes = text.getBytes(UTF_8);
    reader = new JsonReader(bytes, YamlTokens.MAX_DEPTH);
  }

  @Override
  public Token next() throws SyntaxError {
    JsonToken token;
    try {
      token = reader.next();
    } catch (MalformedJson e) {
      JsonReader.Place place = JsonReader.place(bytes, e.at());
      throw new SyntaxError(place.line(), place.column(), "not JSON: " + e.what(), e.hint());
    }
    return new Token(kind(token), token.text(), token.text(), token.line(), token.column());
  }

  private static Kind kind(JsonToken token) {
    return switch (token.kind()) {
      case NULL -> Kind.NULL;
      case BOOLEAN -> Kind.BOOLEAN;
      case NUMBER -> Kind.NUMBER;
      case STRING -> Kind.TEXT;
      case ARRAY -> Kind.LIST;
      case ARRAY_END -> Kind.LIST_END;
      case OBJECT -> Kind.MAP;
      case OBJECT_END -> Kind.MAP_END;
      case END -> Kind.END;
    };
  }
}
