package ipmasq.config;

import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;

/** The engine's complaints about syntax, each as one plain line with its place. */
final class YamlWords {
  private YamlWords() {}

  /** The complaint; at the given place where the engine names none. */
  static SyntaxError error(MarkedYamlEngineException e, int line, int column) {
    Mark mark = e.getProblemMark().or(e::getContextMark).orElse(null);
    int atLine = mark == null ? line : mark.getLine() + 1;
    int atColumn = mark == null ? column : mark.getColumn() + 1;
    String problem = e.getProblem() == null ? "" : flat(e.getProblem());
    int advice = problem.indexOf(". (Do not use");
    if (problem.contains("TAB")) {
      return new SyntaxError(
          atLine, atColumn, "a tab cannot indent", "use spaces: YAML takes no tabs there");
    }
    if (advice > 0) {
      problem = problem.substring(0, advice);
    }
    if (problem.contains("<block end>")) {
      return new SyntaxError(
          atLine,
          atColumn,
          "not YAML: the indentation does not fit the lines above",
          "indent the keys alike, and the elements of a list alike");
    }
    String context = e.getContext() == null ? "" : flat(e.getContext());
    String message = context.isEmpty() ? problem : context + ": " + problem;
    return new SyntaxError(atLine, atColumn, "not YAML: " + message, hint(problem));
  }

  private static String hint(String problem) {
    if (problem.contains("mapping values are not allowed")) {
      return "a value that contains \": \" needs quotes";
    }
    if (problem.contains("could not find expected ':'")) {
      return "a key is followed by \": \"";
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
