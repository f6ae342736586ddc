package ipmasq.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The help as people see it: the texts are in {@code src/test/resources/help}. */
class HelpTest {
  private static final Path GOLDENS = Path.of("src/test/resources/help");
  private static final Path PAGE = Path.of("../docs/configuration.md");
  private static final Pattern ROW = Pattern.compile("\\| `([^`]+)` \\| .* \\| ([^|]+) \\|");

  @Test
  void theOverviewNamesAllCommands() throws IOException {
    assertGolden("overview", InProcess.run("--help"));
    assertEquals(InProcess.run("--help"), InProcess.run("-h"));
    assertEquals(InProcess.run("--help"), InProcess.run("help"));
  }

  @ParameterizedTest
  @EnumSource(Command.class)
  void eachCommandHasItsOwn(Command command) throws IOException {
    String help = InProcess.run(command.word(), "--help");
    assertGolden(command.word(), help);
    assertEquals(help, InProcess.run("help", command.word()));
  }

  @ParameterizedTest
  @EnumSource(Command.class)
  void examplesAreCommandLinesThatItTakes(Command command) throws WrongUsage {
    assertEquals(command, CommandLine.parse(List.of(command.example.split(" "))).command());
  }

  /** Its table of commands: their names in order, what they work on, and their exit codes. */
  @Test
  void theDocumentationSaysTheSame() throws IOException {
    List<String> documented = new ArrayList<>();
    String page = Files.readString(PAGE, UTF_8);
    Matcher row = ROW.matcher(page.substring(page.indexOf("| command |")));
    while (row.find()) {
      documented.add(row.group(1) + ": " + row.group(2));
    }
    assertEquals(
        Arrays.stream(Command.values()).map(c -> c.usage() + ": " + c.exits).toList(), documented);
  }

  private static void assertGolden(String name, String text) throws IOException {
    Path golden = GOLDENS.resolve(name + ".txt");
    assertEquals(Files.readString(golden, UTF_8), text, () -> "see " + golden);
  }
}
