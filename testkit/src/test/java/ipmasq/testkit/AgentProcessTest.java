package ipmasq.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@KernelTest
class AgentProcessTest {
  private static final Path SHELL = Path.of("/bin/sh");
  private final Namespace namespace = Namespace.open("test");

  @AfterEach
  void close() {
    namespace.close();
  }

  private AgentProcess shell(String script, String... more) {
    String[] arguments = new String[more.length + 3];
    arguments[0] = "-c";
    arguments[1] = script;
    arguments[2] = "agent";
    System.arraycopy(more, 0, arguments, 3, more.length);
    return AgentProcess.start(SHELL, namespace, Map.of("WORD", "from outside"), arguments);
  }

  @Test
  void runsInsideUnderItsOwnProcessId() {
    try (AgentProcess agent = shell("echo $$; ip -br link; echo $WORD $1 >&2", "and an argument")) {
      assertEquals(0, agent.awaitExit());
      assertEquals(String.valueOf(agent.pid()), agent.stdout().getFirst());
      assertEquals(2, agent.stdout().size());
      assertEquals(List.of("from outside and an argument"), agent.stderr());
    }
  }

  @Test
  void terminationIsHeardAndItsLastWordsToo() {
    try (AgentProcess agent =
        shell("trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done")) {
      agent.awaitLine("ready"::equals);
      agent.terminate();
      assertEquals(7, agent.awaitExit());
      assertEquals(List.of("ready", "bye"), agent.stdout());
    }
  }

  @Test
  void killingNeedsNoConsent() {
    try (AgentProcess agent = shell("trap '' TERM; echo ready; while :; do sleep 0.01; done")) {
      agent.awaitLine("ready"::equals);
      agent.terminate();
      assertThrows(AssertionError.class, () -> agent.awaitExit(Duration.ofMillis(50)));
      agent.kill();
      assertEquals(128 + 9, agent.awaitExit());
    }
  }

  @Test
  void waitingForLinesEndsWithTheAgentOrTheDeadline() {
    try (AgentProcess agent = shell("echo only this")) {
      String message =
          assertThrows(AssertionError.class, () -> agent.awaitLine("that"::equals)).getMessage();
      assertTrue(message.contains("only this"), message);
    }
    try (AgentProcess agent = shell("exec sleep 600")) {
      Duration shortly = Duration.ofMillis(20);
      assertThrows(AssertionError.class, () -> agent.awaitLine(_ -> true, shortly));
    }
  }

  @Test
  void nothingIsLeftOfIt() {
    AgentProcess agent = shell("sleep 600 & echo $!; wait");
    long child = Long.parseLong(agent.awaitLine(_ -> true));
    agent.close();
    assertFalse(agent.running());
    Eventually.eventually(
        "no child",
        () -> ProcessHandle.of(child).filter(ProcessHandle::isAlive),
        Optional::isEmpty);
  }

  @Test
  void missingAgentSaysWhatToDo() {
    String before = System.getProperty("ipmasq.agent");
    System.setProperty("ipmasq.agent", "/nowhere/agent");
    try {
      String message =
          assertThrows(IllegalStateException.class, () -> AgentProcess.start(namespace))
              .getMessage();
      assertEquals("no agent at /nowhere/agent: run make build first", message);
    } finally {
      System.setProperty("ipmasq.agent", before);
    }
  }
}
