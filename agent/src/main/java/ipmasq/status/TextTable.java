package ipmasq.status;

import java.util.ArrayList;
import java.util.List;

/** Rows of text in aligned columns. */
public final class TextTable {
  private final List<String[]> rows = new ArrayList<>();

  public TextTable(String... head) {
    rows.add(head);
  }

  public void row(String... cells) {
    rows.add(cells);
  }

  /** The rows, one per line, each after the indent. */
  public String text(String indent) {
    StringBuilder text = new StringBuilder();
    int[] width = new int[rows.getFirst().length];
    for (String[] row : rows) {
      for (int i = 0; i < row.length; i++) {
        width[i] = Math.max(width[i], row[i].length());
      }
    }
    for (String[] row : rows) {
      StringBuilder line = new StringBuilder(indent);
      for (int i = 0; i < row.length; i++) {
        line.append(row[i]).repeat(' ', width[i] - row[i].length() + 2);
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }
}
