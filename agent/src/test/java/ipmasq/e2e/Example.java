package ipmasq.e2e;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A fenced block of a page that a comment on the line before it marks:
 *
 * <pre>{@code
 * <!-- config -->                 a config file without a flaw
 * <!-- config --enable-ipv6 -->   the same, with flags
 * <!-- config warned -->          a good one that is warned of
 * <!-- config bad -->             one that is rejected
 * <!-- run -->                    shell: each line must succeed; my-config is the file shown last
 * }</pre>
 */
record Example(Path page, int line, Kind kind, List<String> flags, String text) {
  private static final Pattern MARK = Pattern.compile("<!-- (config|run)((?: [^ ]+)*?) -->");

  enum Kind {
    GOOD,
    WARNED,
    BAD,
    RUN
  }

  static List<Example> of(Path page) {
    try {
      List<String> lines = Files.readAllLines(page);
      List<Example> examples = new ArrayList<>();
      for (int i = 0; i + 1 < lines.size(); i++) {
        Matcher mark = MARK.matcher(lines.get(i).strip());
        if (mark.matches()) {
          examples.add(read(page, lines, i, mark));
        }
      }
      return examples;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Example read(Path page, List<String> lines, int at, Matcher mark) {
    if (!lines.get(at + 1).startsWith("```")) {
      throw new AssertionError(page + ":" + (at + 1) + ": a mark without a block");
    }
    StringBuilder text = new StringBuilder();
    for (int i = at + 2; !lines.get(i).startsWith("```"); i++) {
      text.append(lines.get(i)).append('\n');
    }
    List<String> words = new ArrayList<>(List.of(mark.group(2).strip().split(" ")));
    Kind kind =
        mark.group(1).equals("run")
            ? Kind.RUN
            : words.remove("bad") ? Kind.BAD : words.remove("warned") ? Kind.WARNED : Kind.GOOD;
    words.remove("");
    return new Example(page, at + 1, kind, words, text.toString());
  }

  @Override
  public String toString() {
    return page.getFileName() + ":" + line + ":\n" + text;
  }
}
