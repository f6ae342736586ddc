package ipmasq.bench;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The report in the making: promises on top, then a section per subject. Used by one thread. */
final class Report {
  private static final int WIDTH = 100;

  private final Map<Promise, Double> figures = new EnumMap<>(Promise.class);
  private final List<String> gaps = new ArrayList<>();
  private final StringBuilder body = new StringBuilder();

  void measured(Promise promise, double figure) {
    figures.put(promise, figure);
  }

  /** What could not be measured, and why. */
  void gap(String what) {
    gaps.add(what);
  }

  void section(String title, String text) {
    body.append("\n## ").append(title).append('\n');
    text(text);
  }

  void text(String text) {
    body.append('\n');
    text.strip().lines().forEach(line -> body.append(wrapped(line)).append('\n'));
  }

  private static String wrapped(String line) {
    StringBuilder text = new StringBuilder();
    int column = 0;
    for (String word : line.split(" ")) {
      boolean fits = column + word.length() < WIDTH || line.startsWith("|") || column == 0;
      text.append(column == 0 ? "" : fits ? " " : "\n").append(word);
      column = fits ? column + word.length() + 1 : word.length() + 1;
    }
    return text.toString();
  }

  /** The first row is the head; its first column is for words, the others for figures. */
  void table(List<String[]> rows) {
    body.append('\n').append(markdown(rows));
  }

  private static String markdown(List<String[]> rows) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < rows.size(); i++) {
      text.append("| ").append(String.join(" | ", rows.get(i))).append(" |\n");
      if (i == 0) {
        text.append("|---").append("|---:".repeat(rows.getFirst().length - 1)).append("|\n");
      }
    }
    return text.toString();
  }

  /** All promises, kept or not. */
  private List<String[]> promises() {
    List<String[]> rows = new ArrayList<>();
    for (Promise promise : Promise.values()) {
      Double figure = figures.get(promise);
      rows.add(figure == null ? promise.notMeasured() : promise.row(figure));
    }
    return rows;
  }

  private String summary() {
    long met = figures.entrySet().stream().filter(e -> e.getKey().metBy(e.getValue())).count();
    int left = Promise.values().length - figures.size();
    return "%d of %d promises met, %d not met, %d not measured."
        .formatted(met, Promise.values().length, figures.size() - met, left);
  }

  /** For the terminal: a line per promise. */
  String verdicts() {
    StringBuilder text = new StringBuilder();
    for (String[] row : promises()) {
      text.append("%-13s%s: %s (%s)%n".formatted(row[3], row[0], row[2], row[1]));
    }
    return text + summary();
  }

  String markdown(String introduction) {
    List<String[]> table = new ArrayList<>(promises());
    table.addFirst(new String[] {"what", "promised", "measured", "verdict"});
    StringBuilder text = new StringBuilder(introduction.strip());
    text.append("\n\n## Promises\n\n").append(summary()).append("\n\n").append(markdown(table));
    if (!gaps.isEmpty()) {
      text.append("\nNot measured here:\n\n");
      gaps.forEach(gap -> text.append("- ").append(gap).append('\n'));
    }
    return text.append(body).toString();
  }
}
