package ipmasq.bench;

import java.util.ArrayList;
import java.util.List;

/** The report in the making: goals on top, then a section a subject. Used by one thread. */
final class Report {
  private final List<Goal> goals = new ArrayList<>();
  private final List<String> gaps = new ArrayList<>();
  private final StringBuilder body = new StringBuilder();

  void goal(Goal goal) {
    goals.add(goal);
  }

  void goal(String what, double limit, double measured, Unit unit) {
    goals.add(new Goal(what, limit, measured, unit));
  }

  /** What could not be measured, and why. */
  void gap(String what) {
    gaps.add(what);
  }

  void section(String title, String text) {
    body.append("\n## ").append(title).append("\n\n").append(text.strip()).append('\n');
  }

  void text(String text) {
    body.append('\n').append(text.strip()).append('\n');
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

  String markdown(String introduction) {
    List<String[]> promises = new ArrayList<>();
    promises.add(new String[] {"what", "promised", "measured", "met"});
    goals.forEach(goal -> promises.add(goal.row()));
    StringBuilder text = new StringBuilder(introduction.strip()).append("\n\n## Promises\n\n");
    long missed = goals.stream().filter(goal -> !goal.met()).count();
    text.append(goals.size() - missed).append(" of ").append(goals.size()).append(" met");
    text.append(missed == 0 ? ".\n\n" : ", " + missed + " missed.\n\n");
    text.append(markdown(promises));
    if (!gaps.isEmpty()) {
      text.append("\nNot measured here:\n\n");
      gaps.forEach(gap -> text.append("- ").append(gap).append('\n'));
    }
    return text.append(body).toString();
  }
}
