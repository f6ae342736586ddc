package ipmasq.config;

import ipmasq.config.Problem.Place;
import ipmasq.config.Problem.Severity;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Collects problems. A file of 100,000 bad lines must not become a log of 100,000: the first few of
 * each severity are kept, the rest counted.
 */
final class Problems {
  private static final int KEPT = 20;

  private final List<Problem> kept = new ArrayList<>();
  private int errors;
  private int warnings;

  void error(Place at, String message, String hint) {
    add(new Problem(Severity.ERROR, at, message, hint));
  }

  void warning(Place at, String message, String hint) {
    add(new Problem(Severity.WARNING, at, message, hint));
  }

  void add(Problem problem) {
    int count = problem.severity() == Severity.ERROR ? ++errors : ++warnings;
    if (count <= KEPT) {
      kept.add(problem);
    }
  }

  boolean anyError() {
    return errors > 0;
  }

  Problem first() {
    return kept.getFirst();
  }

  /** Gives some of those from one file another hint. */
  void replaceHints(String file, Function<Problem, Optional<String>> hints) {
    kept.replaceAll(
        it -> it.file().equals(file) ? hints.apply(it).map(it::withHint).orElse(it) : it);
  }

  /** In the order of the files, with a last line for those that were only counted. */
  List<Problem> list(List<String> files) {
    List<Problem> list = new ArrayList<>();
    for (String file : files) {
      kept.stream().filter(problem -> problem.file().equals(file)).sorted().forEach(list::add);
    }
    more(list, Severity.ERROR, errors - KEPT, " more errors");
    more(list, Severity.WARNING, warnings - KEPT, " more warnings");
    return list;
  }

  private static void more(List<Problem> list, Severity severity, int count, String what) {
    if (count > 0) {
      list.add(new Problem(severity, Place.of(list.getLast().file()), "and " + count + what, ""));
    }
  }
}
