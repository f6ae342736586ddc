package ipmasq.config;

/**
 * A value in a file, about to be read.
 *
 * @param key its name, for messages
 * @param first its first token
 * @param rest what comes after
 * @param places takes the place of the value, or of each element of a list
 */
record ValueInput(String key, Token first, Tokens rest, Places places, Problems problems) {
  /** Reports that the value is of another type, and reads past it. */
  void mismatch(String wanted, String hint) throws SyntaxError {
    problems.error(first, key + " is " + first.phrase() + wanted, hint);
    rest.skip(first);
  }
}
