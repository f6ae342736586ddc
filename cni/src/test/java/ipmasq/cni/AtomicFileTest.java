package ipmasq.cni;

import static ipmasq.net.Family.IPV4;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Backend;
import ipmasq.backend.Outcome;
import ipmasq.cni.FailingDisk.Way;
import ipmasq.policy.Policy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Whatever fails at whatever step, a file is the old or the new one, and the next agent goes on.
 */
class AtomicFileTest {
  private static final String NAME = "sdnbridge-crlf.conf";
  private static final Policy FIRST = Node.exempt(IPV4, "10.0.0.0/8", "11.0.0.0/8");
  private static final Policy SECOND = Node.exempt(IPV4, "10.0.0.0/8", "172.16.0.0/12");
  @TempDir Path directory;

  @ParameterizedTest
  @EnumSource
  void theFirstWrite(Way way) throws IOException {
    everyStep(way, List.of(), backend -> Node.enforce(backend, FIRST));
  }

  @ParameterizedTest
  @EnumSource
  void aLaterWrite(Way way) throws IOException {
    everyStep(way, List.of(FIRST), backend -> Node.enforce(backend, SECOND));
  }

  @ParameterizedTest
  @EnumSource
  void takingItBack(Way way) throws IOException {
    everyStep(way, List.of(FIRST), backend -> Node.cleanup(backend, IPV4));
  }

  private interface Act {
    Outcome on(Backend backend);
  }

  private void everyStep(Way way, List<Policy> before, Act act) throws IOException {
    Path file = prepared(before);
    byte[] old = Files.readAllBytes(file);
    assertEquals(new Outcome.Applied(), act.on(new CniBackend(FailingDisk.never(), file, true)));
    byte[] wanted = Files.readAllBytes(file);
    int step = 0;
    while (fails(way, before, act, step, old, wanted)) {
      assertTrue(step++ < 100, "the steps have no end");
    }
    assertTrue(step >= 5, "only " + step + " steps were tried");
  }

  private boolean fails(Way way, List<Policy> before, Act act, int step, byte[] old, byte[] wanted)
      throws IOException {
    Path file = prepared(before);
    FailingDisk disk = new FailingDisk(step, way, new Random(step));
    try {
      Outcome outcome = act.on(new CniBackend(disk, file, true));
      assertEquals(disk.failed(), outcome instanceof Outcome.Refused, "step " + step);
    } catch (FailingDisk.Killed killed) {
      assertTrue(disk.failed());
    }
    byte[] bytes = Files.readAllBytes(file);
    if (!Arrays.equals(wanted, bytes)) {
      assertArrayEquals(old, bytes, way + " at step " + step);
    }
    // Whoever comes next finishes the work, and can take it back without a trace.
    Backend next = new CniBackend(FailingDisk.never(), file, true);
    assertEquals(new Outcome.Applied(), act.on(next));
    assertArrayEquals(wanted, Files.readAllBytes(file), way + " at step " + step);
    assertEquals(new Outcome.Applied(), Node.cleanup(next, IPV4));
    assertArrayEquals(Node.resource(NAME), Files.readAllBytes(file), way + " at step " + step);
    assertEquals(List.of(NAME), new Node(directory).names(), way + " at step " + step);
    return disk.failed();
  }

  private Path prepared(List<Policy> policies) throws IOException {
    try (Stream<Path> files = Files.list(directory).sorted(Comparator.reverseOrder())) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Path file = new Node(directory).put(NAME);
    Backend backend = new CniBackend(FailingDisk.never(), file, true);
    policies.forEach(p -> assertEquals(new Outcome.Applied(), Node.enforce(backend, p)));
    return file;
  }

  @Test
  void aRefusalIsSaidInTheSystemsWords() throws IOException {
    Path file = prepared(List.of());
    FailingDisk disk = new FailingDisk(0, Way.REFUSAL, new Random(1));
    assertEquals(
        "cannot write " + file.toRealPath() + ": no",
        Node.refused(Node.enforce(new CniBackend(disk, file, false), FIRST)).message());
    assertEquals(List.of(NAME), new Node(directory).names());
  }
}
