package ipmasq.cli;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/** Rows of text in aligned columns. */
final class Table {
  private final List<List<String>> rows = new ArrayList<>();

  Table(String... head) {
    rows.add(List.of(head));
  }

  void row(String... cells) {
    rows.add(List.of(cells));
  }

  void print(PrintStream out) {
    int columns = rows.getFirst().size();
    int[] width = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) {
        width[i] = Math.max(width[i], row.get(i).length());
      }
    }
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        line.append(row.get(i));
        if (i + 1 < columns) {
          line.repeat(' ', width[i] - row.get(i).length() + 2);
        }
      }
      out.println(line);
    }
  }
}
