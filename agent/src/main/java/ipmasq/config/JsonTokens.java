package ipmasq.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.config.Token.TokenKind;
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

  private static TokenKind kind(JsonToken token) {
    return switch (token.kind()) {
      case NULL -> TokenKind.NULL;
      case BOOLEAN -> TokenKind.BOOLEAN;
      case NUMBER -> TokenKind.NUMBER;
      case STRING -> TokenKind.TEXT;
      case ARRAY -> TokenKind.LIST;
      case ARRAY_END -> TokenKind.LIST_END;
      case OBJECT -> TokenKind.MAP;
      case OBJECT_END -> TokenKind.MAP_END;
      case END -> TokenKind.END;
    };
  }
}
