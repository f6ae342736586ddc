package ipmasq.config;

import java.util.LinkedHashMap;
import java.util.Map;
import org.snakeyaml.engine.v2.exceptions.Mark;

/**
 * A problem in a config file.
 *
 * @param line from 1; 0: the file as a whole
 * @param column from 1, in characters; 0: the file as a whole
 * @param hint what to do about it; may be empty
 */
public record Problem(
    Severity severity, String file, int line, int column, String message, String hint)
    implements Comparable<Problem> {

  /** Whether the file can be used all the same. */
  public enum Severity {
    ERROR,
    WARNING
  }

  /** A place in a file, as in {@link Problem}. */
  public record Place(String file, int line, int column) {
    static Place of(String file) {
      return new Place(file, 0, 0);
    }

    static Place of(Mark mark) {
      return new Place(mark.getName(), mark.getLine() + 1, mark.getColumn() + 1);
    }

    /** The place of a character in a file's text. */
    static Place of(String file, String text, int index) {
      int start = text.lastIndexOf('\n', index - 1) + 1;
      int line = 1 + (int) text.substring(0, start).chars().filter(c -> c == '\n').count();
      return new Place(file, line, text.codePointCount(start, index) + 1);
    }

    /** {@code path:3:5}. */
    @Override
    public String toString() {
      return line == 0 ? file : file + ":" + line + ":" + column;
    }
  }

  Problem(Severity severity, Place place, String message, String hint) {
    this(severity, place.file, place.line, place.column, message, hint);
  }

  /** By place in the file; what concerns the file as a whole comes last. */
  @Override
  public int compareTo(Problem other) {
    int byLine = Integer.compareUnsigned(line - 1, other.line - 1);
    return byLine != 0 ? byLine : Integer.compare(column, other.column);
  }

  /** For scripts: name and value of each part, in order. */
  public Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("severity", severity == Severity.ERROR ? "error" : "warning");
    fields.put("file", file);
    fields.put("line", line);
    fields.put("column", column);
    fields.put("message", message);
    fields.put("hint", hint);
    return fields;
  }

  /** {@code path:3:5: error: message (hint)}. */
  @Override
  public String toString() {
    return text(severity == Severity.ERROR ? "error: " : "warning: ");
  }

  /** {@code path:3:5: message (hint)}, for a log line, which has a level of its own. */
  public String withoutSeverity() {
    return text("");
  }

  private String text(String word) {
    return new Place(file, line, column) + ": " + word + inWords();
  }

  /** {@code message (hint)}. */
  String inWords() {
    return message + (hint.isEmpty() ? "" : " (" + hint + ")");
  }

  Problem withHint(String other) {
    return new Problem(severity, file, line, column, message, other);
  }
}
