package ipmasq.config;

import ipmasq.config.Document.Place;
import java.util.Optional;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;

/** A text that is not YAML. Never leaves this package. */
final class SyntaxError extends Exception {
  private static final long serialVersionUID = 1;

  private final transient Place place;
  private final String hint;

  SyntaxError(Place place, String message, String hint) {
    super(message, null, false, false);
    this.place = place;
    this.hint = hint;
  }

  void reportTo(Problems problems) {
    problems.error(place.line(), place.column(), String.valueOf(getMessage()), hint);
  }

  /**
   * The engine's error in one plain line, at the place of the mistake, not where it was noticed.
   */
  static SyntaxError of(MarkedYamlEngineException e, String text) {
    String problem = e.getProblem() == null ? "" : flat(e.getProblem());
    Optional<Mark> begun = e.getContextMark().or(e::getProblemMark);
    Optional<Mark> noticed = e.getProblemMark().or(e::getContextMark);
    if (problem.contains("TAB")) {
      return at(noticed, "a tab cannot indent", "use spaces: YAML takes no tabs there");
    }
    if (problem.startsWith("found undefined alias")) {
      String name = problem.substring(problem.lastIndexOf(' ') + 1);
      return at(
          noticed, "unknown anchor '" + name + "' referenced", "define it above with &" + name);
    }
    if (problem.contains("<block end>")) {
      return at(
          noticed,
          "not YAML: the indentation does not fit the lines above",
          "indent the keys alike, and the elements of a list alike");
    }
    if (problem.contains("unexpected end of stream")) {
      return at(begun, "not YAML: the quote is not closed", "close it");
    }
    if (problem.contains("could not find expected ':'")) {
      return noColon(begun, text);
    }
    if (noticed.map(mark -> hasComment(text, mark.getLine())).orElse(false)) {
      return at(noticed, "not YAML: a comment of another language", "a comment begins with #");
    }
    char bracket = begun.map(mark -> charAt(text, mark.getIndex())).orElse(' ');
    if ((bracket == '[' || bracket == '{')
        && (problem.startsWith("expected ',' or") || problem.contains("<stream end>"))) {
      return unclosed(bracket, begun, noticed, problem.contains("<stream end>"));
    }
    return at(noticed, message(e, problem), hint(problem));
  }

  /** Whether this line or the one above has a comment as JSON5, C or Go have it. */
  private static boolean hasComment(String text, int line) {
    return text.lines()
        .skip(Math.max(0, line - 1))
        .limit(line == 0 ? 1 : 2)
        .anyMatch(each -> each.matches("(.*\\s)?(//|/\\*).*"));
  }

  private static char charAt(String text, int index) {
    int at = text.offsetByCodePoints(0, Math.min(index, text.codePointCount(0, text.length())));
    return at < text.length() ? text.charAt(at) : ' ';
  }

  private static SyntaxError at(Optional<Mark> mark, String message, String hint) {
    Place place =
        mark.map(m -> new Place(m.getLine() + 1, m.getColumn() + 1)).orElse(new Place(1, 1));
    return new SyntaxError(place, message, hint);
  }

  private static String message(MarkedYamlEngineException e, String problem) {
    int advice = problem.indexOf(". (Do not use");
    String what = advice > 0 ? problem.substring(0, advice) : problem;
    String context = e.getContext() == null ? "" : flat(e.getContext());
    return "not YAML: " + (context.isEmpty() ? what : context + ": " + what);
  }

  /** The engine notices at the end of the line, or of the file. */
  private static SyntaxError noColon(Optional<Mark> begun, String text) {
    int number = begun.map(Mark::getLine).orElse(0);
    String line = text.lines().skip(number).findFirst().orElse("").strip();
    String hint;
    if (line.startsWith("-")) {
      hint = "a space belongs after the dash";
    } else if (line.indexOf('/') > 0) {
      hint = "a dash is missing: \"- " + Phrases.shortened(line) + "\"";
    } else {
      hint = "a key is followed by \": \"";
    }
    return at(
        begun,
        "not YAML: " + Phrases.quoted(line) + " is neither a key with its colon nor in a list",
        hint);
  }

  private static SyntaxError unclosed(
      char bracket, Optional<Mark> begun, Optional<Mark> noticed, boolean atEnd) {
    String before =
        noticed.map(mark -> (mark.getLine() + 1) + ":" + (mark.getColumn() + 1)).orElse("the end");
    return at(
        begun,
        "not YAML: the "
            + bracket
            + " is not closed"
            + (atEnd ? "" : ", or a comma is missing before " + before),
        "write " + (bracket == '[' ? ']' : '}') + " after the last element");
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
    return text.replaceAll("[\\s\\p{Cntrl}]+", " ").strip();
  }
}
