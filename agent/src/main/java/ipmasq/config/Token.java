package ipmasq.config;

/**
 * A step through a document, the same for YAML and JSON: a scalar, or the start or end of a
 * collection. A map is a sequence of alternating keys and values.
 *
 * @param text of a scalar, as JSON would have it: {@code 0x40} is {@code 64}, {@code yes} is {@code
 *     true}
 * @param written of a scalar, as the file has it
 * @param line from 1
 * @param column from 1
 */
record Token(TokenKind kind, String text, String written, int line, int column) {
  enum TokenKind {
    NULL,
    BOOLEAN,
    NUMBER,
    TEXT,
    /** The key {@code <<}: the maps that follow are part of this one. */
    MERGE,
    LIST,
    LIST_END,
    MAP,
    MAP_END,
    /** Nothing more in the document. */
    END
  }

  static Token mark(TokenKind kind, int line, int column) {
    return new Token(kind, "", "", line, column);
  }

  boolean opens() {
    return kind == TokenKind.LIST || kind == TokenKind.MAP;
  }

  boolean closes() {
    return kind == TokenKind.LIST_END || kind == TokenKind.MAP_END;
  }

  /** What this is, in a sentence: {@code the number 10}. */
  String phrase() {
    return switch (kind) {
      case NULL -> "empty";
      case BOOLEAN -> "the boolean " + Phrases.shortened(written);
      case NUMBER -> "the number " + Phrases.shortened(written);
      case TEXT, MERGE -> "the text " + Phrases.quoted(written);
      case LIST -> "a list";
      case MAP -> "a map";
      case LIST_END, MAP_END, END -> "missing";
    };
  }
}
