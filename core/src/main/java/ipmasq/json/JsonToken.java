package ipmasq.json;

/**
 * A step through a JSON text: a scalar, or the beginning or end of an object or array. An object is
 * a sequence of alternating keys and values.
 *
 * @param text of a scalar: what a string says, its escapes resolved; other scalars as written
 * @param from the byte with which it begins
 * @param to the byte after it
 * @param line from 1
 * @param column from 1, in characters
 */
public record JsonToken(TokenKind kind, String text, int from, int to, int line, int column) {
  /** What a token is. */
  public enum TokenKind {
    NULL,
    BOOLEAN,
    NUMBER,
    STRING,
    ARRAY,
    ARRAY_END,
    OBJECT,
    OBJECT_END,
    /** Nothing more in the text. */
    END
  }
}
