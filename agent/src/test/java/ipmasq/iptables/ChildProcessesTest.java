package ipmasq.iptables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.iptables.Commands.CommandResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Real processes that behave and that do not. */
class ChildProcessesTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private final List<String> lines = new ArrayList<>();

  private CommandResult run(Duration deadline, String script, String input) {
    Commands commands = new ChildProcesses(Programs.ofEnvironment(), deadline);
    return assertTimeoutPreemptively(
        Duration.ofSeconds(40), () -> commands.run(List.of("sh", "-c", script), input, lines::add));
  }

  @Test
  void outputErrorsAndStatus() {
    assertEquals(
        new CommandResult.Ended(3, "oops"),
        run(LONG, "cat; echo $LC_ALL; echo oops >&2; exit 3", "a\nb"));
    assertEquals(List.of("a", "bC"), lines);
  }

  @Test
  void muchInputAndOutputAtOnce() {
    String input = "0123456789abcde\n".repeat(200_000);
    assertEquals(new CommandResult.Ended(0, ""), run(LONG, "cat", input));
    assertEquals(200_000, lines.size());
  }

  @Test
  void theLastWordsOfAShortLivedProgramAreNeverLost() {
    for (int i = 0; i < 200; i++) {
      lines.clear();
      assertEquals(new CommandResult.Ended(0, "bye"), run(LONG, "echo COMMIT; echo bye >&2", ""));
      assertEquals(List.of("COMMIT"), lines);
    }
  }

  @Test
  void manyErrorsAreCutButNeverBlock() {
    CommandResult result = run(LONG, "head -c 1000000 /dev/zero | tr '\\0' x >&2; echo done", "");
    assertEquals(2000, assertInstanceOf(CommandResult.Ended.class, result).errors().length());
    assertEquals(List.of("done"), lines);
  }

  @Test
  void aProgramThatReadsNothingOfMuchInput() {
    assertEquals(new CommandResult.Ended(0, ""), run(LONG, "exit 0", "x".repeat(1_000_000)));
  }

  @Test
  void aProgramThatHangsIsKilledWithItsChildren() {
    CommandResult result =
        run(Duration.ofMillis(300), "echo $$; sleep 60 & echo $!; wait", "x".repeat(1_000_000));
    assertInstanceOf(CommandResult.Overran.class, result);
    assertEquals(2, lines.size());
    for (String pid : lines) {
      assertTrue(
          ProcessHandle.of(Long.parseLong(pid)).map(ChildProcessesTest::ends).orElse(true), pid);
    }
  }

  @Test
  void theDeadlineGrowsWithTheWork() {
    assertEquals(
        new CommandResult.Ended(0, ""),
        run(Duration.ofMillis(100), "cat > /dev/null; sleep 1", "x".repeat(1_000_000)));
  }

  private static boolean ends(ProcessHandle process) {
    return assertTimeoutPreemptively(Duration.ofSeconds(10), () -> process.onExit().get() != null);
  }

  @Test
  void aProgramThatIsNotThere() {
    Commands commands = new ChildProcesses(new Programs("/nonexistent"), LONG);
    assertEquals(
        new CommandResult.Missing("/nonexistent"),
        commands.run(List.of("iptables-save"), "", lines::add));
  }

  @Test
  void aProgramThatCannotBeStarted() {
    Commands commands = new ChildProcesses(Programs.ofEnvironment(), LONG);
    assertInstanceOf(
        CommandResult.Broken.class,
        commands.run(List.of("sh", "-c", "x".repeat(3_000_000)), "", lines::add));
  }
}
