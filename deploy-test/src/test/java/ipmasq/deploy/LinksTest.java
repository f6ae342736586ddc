package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Links between the pages of the project lead somewhere, to the heading. */
class LinksTest {
  private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
  private static final Set<String> NOT_OURS = Set.of("target", "dist", ".git", "node_modules");

  @Test
  void everyLinkLeadsSomewhere() throws IOException {
    List<String> broken;
    try (var files = Files.walk(Project.ROOT)) {
      broken =
          files
              .filter(LinksTest::isPage)
              .flatMap(page -> links(page).filter(link -> !leads(page, link)).map(l -> page + l))
              .toList();
    }
    assertEquals(List.of(), broken);
  }

  private static boolean isPage(Path file) {
    for (var part : Project.ROOT.relativize(file)) {
      if (NOT_OURS.contains(part.toString())) {
        return false;
      }
    }
    return file.toString().endsWith(".md");
  }

  private static Stream<String> links(Path page) {
    return LINK.matcher(withoutCode(page))
        .results()
        .map(m -> m.group(1))
        .filter(link -> !link.contains("://"));
  }

  private static boolean leads(Path page, String link) {
    var parts = link.split("#", 2);
    var file = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
    return Files.exists(file) && (parts.length == 1 || anchors(file).contains(parts[1]));
  }

  /** As GitHub makes them of headings. */
  private static Set<String> anchors(Path page) {
    return withoutCode(page)
        .lines()
        .filter(line -> line.startsWith("#"))
        .map(line -> line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT))
        .map(line -> line.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
        .collect(Collectors.toSet());
  }

  private static String withoutCode(Path page) {
    try {
      return Files.readString(page).replaceAll("(?s)```.*?```", "");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
