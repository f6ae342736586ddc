package ipmasq.cni;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Backend;
import ipmasq.backend.Outcome;
import ipmasq.net.Family;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Configs in the shapes of the field: what is not ours stays byte for byte. */
class CorpusTest {
  static final List<String> CORPUS = Node.CORPUS;

  @TempDir Path directory;

  @ParameterizedTest
  @FieldSource("CORPUS")
  void readAndWrittenWithoutChangeGivesTheSameBytes(String name) throws Exception {
    byte[] bytes = Node.resource(name);
    for (ExceptionList list : PolicyFinder.lists(bytes).values()) {
      assertEquals(new String(bytes, UTF_8), new String(list.replaced(bytes, list.raws()), UTF_8));
    }
  }

  /** Any list may grow, shrink and vanish: outside the brackets nothing moves. */
  @ParameterizedTest
  @FieldSource("CORPUS")
  void onlyTheListChanges(String name) throws Exception {
    Path file = new Node(directory).put(name);
    Backend backend = new CniBackend(FailingDisk.never(), file, false);
    if (name.startsWith("no-")) {
      return;
    }
    String frame = frame(Files.readAllBytes(file));
    List<String[]> lists =
        List.of(
            new String[] {"169.254.0.0/16", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"},
            new String[] {"10.0.0.0/8"},
            new String[] {"10.1.0.0/16", "10.2.0.0/16"},
            new String[] {});
    for (String[] ranges : lists) {
      assertEquals(new Outcome.Applied(), Node.enforce(backend, Node.exempt(Family.IPV4, ranges)));
      assertEquals(List.of(ranges), Node.ranges(backend, Family.IPV4));
      assertEquals(frame, frame(Files.readAllBytes(file)));
      assertTrue(Node.plan(backend, Node.exempt(Family.IPV4, ranges)).isEmpty());
    }
    Node.cleanup(backend, Family.IPV4);
    assertArrayEquals(Node.resource(name), Files.readAllBytes(file));
    assertEquals(List.of(name), new Node(directory).names());
  }

  /** All bytes that are in no IPv4 list. */
  private static String frame(byte[] bytes) throws Exception {
    ExceptionList list = PolicyFinder.lists(bytes).get(Family.IPV4);
    return new String(list.spliced(bytes, "LIST"), UTF_8);
  }

  @Test
  void everyShapeOfTheCorpusIsFound() throws Exception {
    List<Integer> found = new ArrayList<>();
    for (String name : CORPUS) {
      found.add(PolicyFinder.lists(Node.resource(name)).size());
    }
    assertEquals(List.of(1, 1, 1, 1, 1, 1, 0, 1, 2, 1), found);
  }
}
