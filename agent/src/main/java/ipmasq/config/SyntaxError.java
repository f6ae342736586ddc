package ipmasq.config;

/** The document ends here: what follows cannot be read. Never leaves this package. */
final class SyntaxError extends Exception {
  private static final long serialVersionUID = 1;

  private final int line;
  private final int column;
  private final String hint;

  SyntaxError(int line, int column, String message, String hint) {
    super(message, null, false, false);
    this.line = line;
    this.column = column;
    this.hint = hint;
  }

  int line() {
    return line;
  }

  /** {@code line:column}. */
  String place() {
    return line + ":" + column;
  }

  /** In other words. */
  SyntaxError as(String message, String otherHint) {
    return new SyntaxError(line, column, message, otherHint);
  }

  /** Whether there is a comment of other languages, which YAML takes for a part of a key. */
  boolean atComment(String text) {
    String from = text.lines().skip(line - 1L).findFirst().orElse("").substring(column - 1);
    return from.startsWith("//") || from.startsWith("/*");
  }

  void reportTo(Problems problems) {
    problems.error(line, column, String.valueOf(getMessage()), hint);
  }
}
