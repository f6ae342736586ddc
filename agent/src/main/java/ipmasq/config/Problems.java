package ipmasq.config;

import ipmasq.config.Problem.Severity;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/**
 * Collects the problems of one file. A file of 100,000 bad lines must not become a log of 100,000:
 * the first few of each severity are kept, the rest counted.
 */
final class Problems {
  static final int KEPT = 20;

  private final String file;
  private final List<Problem> kept = new ArrayList<>();
  private int errors;
  private int warnings;
  private int ignoredKeys;
  private boolean ignoredDocuments;

  Problems(String file) {
    this.file = file;
  }

  String file() {
    return file;
  }

  void error(Value at, String message, String hint) {
    error(at.line(), at.column(), message, hint);
  }

  void error(int line, int column, String message, String hint) {
    add(new Problem(Severity.ERROR, file, line, column, message, hint));
  }

  void warning(Value at, String message, String hint) {
    warning(at.line(), at.column(), message, hint);
  }

  void warning(int line, int column, String message, String hint) {
    add(new Problem(Severity.WARNING, file, line, column, message, hint));
  }

  /** Keys that the agent does not know: a warning, unless the config is strict. */
  void ignored(int keys, Value at, String message, String hint) {
    ignoredKeys += keys;
    warning(at, message, hint);
  }

  void ignoredDocument(Document.Place at, String message, String hint) {
    ignoredDocuments = true;
    warning(at.line(), at.column(), message, hint);
  }

  int ignoredKeys() {
    return ignoredKeys;
  }

  boolean ignoredDocuments() {
    return ignoredDocuments;
  }

  void add(Problem problem) {
    int count = problem.severity() == Severity.ERROR ? ++errors : ++warnings;
    if (count <= KEPT) {
      kept.add(problem);
    }
  }

  /** Whether another warning would be kept, and so is worth building. */
  boolean wantsWarnings() {
    return warnings < KEPT;
  }

  boolean anyError() {
    return errors > 0;
  }

  /** Says otherwise what to do about the problems of some lines. */
  void replaceHints(IntFunction<Optional<String>> hints) {
    kept.replaceAll(
        problem ->
            hints
                .apply(problem.line())
                .map(
                    hint ->
                        new Problem(
                            problem.severity(),
                            file,
                            problem.line(),
                            problem.column(),
                            problem.message(),
                            hint))
                .orElse(problem));
  }

  /** In the order of the file, with a last line for those that were only counted. */
  List<Problem> list() {
    List<Problem> list = new ArrayList<>(kept);
    list.sort(null);
    more(list, Severity.ERROR, errors - KEPT, " more errors");
    more(list, Severity.WARNING, warnings - KEPT, " more warnings");
    return list;
  }

  private void more(List<Problem> list, Severity severity, int count, String what) {
    if (count > 0) {
      list.add(new Problem(severity, file, 0, 0, "and " + count + what, ""));
    }
  }
}
