package ipmasq.config;

import ipmasq.config.YamlTokens.Opened;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;

/** The YAML engine's syntax errors, each as one plain line with its place. */
final class YamlErrors {
  private YamlErrors() {}

  /**
   * The error, at the place of the mistake, not where the engine noticed it.
   *
   * @param inside the innermost collection that is open there; null: none
   * @param line the place to report if the engine gives none
   */
  static SyntaxError error(
      MarkedYamlEngineException e, String text, @Nullable Opened inside, int line, int column) {
    String problem = e.getProblem() == null ? "" : flat(e.getProblem());
    SyntaxError plain =
        at(
            e.getProblemMark().or(e::getContextMark),
            line,
            column,
            message(e, problem),
            hint(problem));
    if (problem.contains("TAB")) {
      return plain.as("a tab cannot indent", "use spaces: YAML takes no tabs there");
    }
    if (problem.contains("<block end>")) {
      return plain.as(
          "not YAML: the indentation does not fit the lines above",
          "indent the keys alike, and the elements of a list alike");
    }
    if (problem.contains("unexpected end of stream")) {
      return at(e.getContextMark(), line, column, "not YAML: the quote is not closed", "close it");
    }
    if (problem.contains("could not find expected ':'")) {
      return noColon(at(e.getContextMark(), line, column, "", ""), text);
    }
    if (inside != null
        && inside.bracket() != ' '
        && (problem.startsWith("expected ',' or") || problem.contains("<stream end>"))) {
      return unclosed(inside, plain, problem.contains("<stream end>"));
    }
    return plain;
  }

  private static SyntaxError at(
      Optional<Mark> mark, int line, int column, String message, String hint) {
    return mark.isPresent()
        ? new SyntaxError(mark.get().getLine() + 1, mark.get().getColumn() + 1, message, hint)
        : new SyntaxError(line, column, message, hint);
  }

  private static String message(MarkedYamlEngineException e, String problem) {
    int advice = problem.indexOf(". (Do not use");
    String what = advice > 0 ? problem.substring(0, advice) : problem;
    String context = e.getContext() == null ? "" : flat(e.getContext());
    return "not YAML: " + (context.isEmpty() ? what : context + ": " + what);
  }

  /** The engine notices at the end of the line, or of the file. */
  private static SyntaxError noColon(SyntaxError at, String text) {
    String line = text.lines().skip(at.line() - 1L).findFirst().orElse("").strip();
    String hint;
    if (line.startsWith("-")) {
      hint = "a space belongs after the dash";
    } else if (line.indexOf('/') > 0) {
      hint = "a dash is missing: \"- " + Phrases.shortened(line) + "\"";
    } else {
      hint = "a key is followed by \": \"";
    }
    return at.as(
        "not YAML: " + Phrases.quoted(line) + " is neither a key with its colon nor in a list",
        hint);
  }

  private static SyntaxError unclosed(Opened inside, SyntaxError noticed, boolean atEnd) {
    char closing = inside.bracket() == '[' ? ']' : '}';
    return new SyntaxError(
        inside.line(),
        inside.column(),
        "not YAML: the "
            + inside.bracket()
            + " is not closed"
            + (atEnd ? "" : ", or a comma is missing before " + noticed.place()),
        "write " + closing + " after the last element");
  }

  private static String hint(String problem) {
    if (problem.contains("mapping values are not allowed")) {
      return "a value that contains \": \" needs quotes";
    }
    if (problem.contains("but found ':'")) {
      return "an IPv6 range that begins with a colon needs quotes";
    }
    if (problem.contains("cannot start any token")) {
      return "put the text in quotes";
    }
    return "";
  }

  static String oneLine(RuntimeException e) {
    String message = e.getMessage();
    return "not YAML: " + flat(message == null ? "unreadable" : message);
  }

  private static String flat(String text) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean space = c == ' ' || Character.isISOControl(c);
      if (!space || !out.isEmpty() && out.charAt(out.length() - 1) != ' ') {
        out.append(space ? ' ' : c);
      }
    }
    return out.toString().strip();
  }
}
