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
    if (problem.contains("TAB")) {
      return new SyntaxError(
          atLine, atColumn, "a tab cannot indent", "use spaces: YAML takes no tabs there");
    }
    String context = e.getContext() == null ? "" : flat(e.getContext());
    String message = context.isEmpty() ? problem : context + ": " + problem;
    return new SyntaxError(atLine, atColumn, "not YAML: " + message, hint(problem));
  }

  private static String hint(String problem) {
    if (problem.contains("<block end>")) {
      return "indent the keys alike, and the elements of a list alike";
    }
    if (problem.contains("mapping values are not allowed")) {
      return "a value that contains \": \" needs quotes";
    }
    if (problem.contains("could not find expected ':'")) {
      return "a key is followed by \": \"";
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
