package ipmasq.config;

/** A document as a stream, read once: even a file of a million ranges is never held as a tree. */
interface Tokens {
  /** The next step; {@code END} at the end, and from then on. */
  Token next() throws SyntaxError;

  /** Reads past the rest of a value whose first step was {@code first}. */
  default void skip(Token first) throws SyntaxError {
    int depth = first.opens() ? 1 : 0;
    while (depth > 0) {
      Token token = next();
      depth += token.opens() ? 1 : token.closes() ? -1 : 0;
    }
  }
}
