package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.e2e.Example.Kind;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The marked examples of README and docs do what the pages say; see {@link Example}. */
@KernelTest
@Execution(ExecutionMode.CONCURRENT)
class DocumentsTest {
  private static final Path PROJECT = Path.of(System.getProperty("ipmasq.project"));
  private static final String PROGRAM = "ip-masq-agent";

  static Stream<Path> pages() throws IOException {
    try (Stream<Path> docs = Files.list(PROJECT.resolve("docs"))) {
      List<Path> pages = docs.filter(page -> page.toString().endsWith(".md")).sorted().toList();
      return Stream.concat(Stream.of(PROJECT.resolve("README.md")), pages.stream())
          .filter(page -> !Example.of(page).isEmpty());
    }
  }

  @ParameterizedTest
  @MethodSource("pages")
  void examplesAreTrue(Path page) throws IOException {
    try (Node node = Node.open()) {
      Path directory = node.volume().directory();
      Path programs = Files.createDirectory(directory.resolve("..programs"));
      Files.createSymbolicLink(programs.resolve(PROGRAM), AgentProcess.builtAgent());
      node.environment("PATH", programs + ":" + System.getenv("PATH"));
      for (Example example : Example.of(page)) {
        if (example.kind() == Kind.RUN) {
          example.text().lines().forEach(line -> run(example, line, node));
        } else {
          Files.writeString(directory.resolve("my-config"), example.text());
          check(example, directory.resolve("my-config"), node);
        }
      }
    }
  }

  private static void check(Example example, Path file, Node node) {
    Result result =
        node.command(
            Stream.concat(Stream.of("check", file.toString()), example.flags().stream())
                .toArray(String[]::new));
    String what = example + "\n" + result;
    assertEquals(example.kind() == Kind.BAD ? 1 : 0, result.exit(), what);
    assertEquals(example.kind() != Kind.GOOD, result.stderr().contains(":"), what);
  }

  /** A line of a shell example, with {@code my-config} as the example before it has it. */
  private static void run(Example example, String line, Node node) {
    if (line.isBlank() || line.startsWith("#")) {
      return;
    }
    String command = line.replace("my-config", node.volume().directory() + "/my-config");
    if (startsTheAgent(line)) {
      List<String> words = List.of(command.replaceAll(" +#.*", "").split(" +"));
      AgentProcess agent = node.start(words.subList(1, words.size()).toArray(String[]::new));
      Node.awaitFirstPass(agent);
      agent.terminate();
      assertEquals(0, agent.awaitExit(), example + "\n" + agent);
    } else {
      Result result = node.shell(command);
      boolean plan = line.startsWith(PROGRAM + " plan");
      assertTrue(result.exit() == 0 || plan && result.exit() == 2, example + "\n" + result);
      assertFalse(result.stdout().isBlank(), example + "\n" + result);
    }
  }

  private static boolean startsTheAgent(String line) {
    return (line + " ").startsWith(PROGRAM + " --")
        && !line.contains("--help")
        && !line.contains("--version");
  }
}
