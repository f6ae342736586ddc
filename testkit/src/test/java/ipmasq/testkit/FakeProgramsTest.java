package ipmasq.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.testkit.FakePrograms.Behaviour.Cut;
import ipmasq.testkit.FakePrograms.Behaviour.Fail;
import ipmasq.testkit.FakePrograms.Behaviour.FailAfter;
import ipmasq.testkit.FakePrograms.Behaviour.Hang;
import ipmasq.testkit.FakePrograms.Behaviour.HangWithChild;
import ipmasq.testkit.FakePrograms.Behaviour.Print;
import ipmasq.testkit.FakePrograms.Behaviour.Real;
import ipmasq.testkit.FakePrograms.Behaviour.Slow;
import ipmasq.testkit.FakePrograms.Invocation;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@KernelTest
class FakeProgramsTest {
  private final Namespace namespace = Namespace.open("test");
  private final FakePrograms programs = new FakePrograms();

  @AfterEach
  void close() {
    programs.close();
    namespace.close();
  }

  private Result run(String... command) {
    return run(Duration.ofSeconds(10), command);
  }

  /** As an agent would: by the name, found on the path. */
  private Result run(Duration deadline, String... command) {
    ProcessBuilder builder = namespace.processBuilder(command);
    builder.environment().put("PATH", programs.path());
    return Commands.run(builder, "", deadline);
  }

  @Test
  void programsAreRealUntilTold() {
    run("iptables", "-t", "nat", "-N", "MINE").ok();
    assertTrue(run("iptables-save", "-t", "nat").ok().contains(":MINE"));
    assertEquals(
        List.of(
            new Invocation("iptables", List.of("-t", "nat", "-N", "MINE")),
            new Invocation("iptables-save", List.of("-t", "nat"))),
        programs.invocations());
  }

  @Test
  void argumentsAreLoggedAsTheyAre() {
    programs.set("iptables", new Print(""));
    run("iptables", "--comment", "two words\nand 'a' \"line\" $HOME %s", "").ok();
    run("iptables").ok();
    assertEquals(
        List.of("--comment", "two words\nand 'a' \"line\" $HOME %s"),
        programs.invocations().getFirst().arguments());
    assertEquals(2, programs.runs("iptables"));
  }

  @Test
  void failureHasExitCodeAndWords() {
    programs.set("iptables-restore", new Fail(4, "it's the lock"));
    Result result = run("iptables-restore", "--noflush");
    assertEquals(4, result.exit());
    assertEquals("it's the lock\n", result.stderr());
    programs.set("iptables-restore", new Real());
    assertEquals(0, run("iptables-restore", "--noflush").exit());
  }

  @Test
  void failureMayComeAfterTheDeed() {
    programs.set("iptables", new FailAfter(1, "too late"));
    assertEquals(1, run("iptables", "-t", "nat", "-N", "MINE").exit());
    assertTrue(run("iptables-save").stdout().contains(":MINE"));
  }

  @Test
  void outputMayBeGarbageOrHalf() {
    programs.set("iptables-save", new Print("*nat\n\u0001garbage"));
    assertEquals("*nat\n\u0001garbage", run("iptables-save").ok());
    run("iptables", "-t", "nat", "-N", "MINE").ok();
    programs.set("iptables-save", new Cut(5));
    assertEquals("# Gen", run("iptables-save").ok());
  }

  @Test
  void slownessEndsAndHangingDoesNot() {
    programs.set("iptables-save", new Slow(Duration.ofMillis(20)));
    assertEquals(0, run("iptables-save").exit());
    Duration shortly = Duration.ofMillis(100);
    programs.set("iptables-save", new Hang());
    assertThrows(AssertionError.class, () -> run(shortly, "iptables-save"));
    programs.set("iptables-save", new HangWithChild());
    assertThrows(AssertionError.class, () -> run(shortly, "iptables-save"));
  }

  @Test
  void programsMayBeMissing() {
    programs.removeAll();
    assertEquals(127, run("iptables").exit());
  }
}
