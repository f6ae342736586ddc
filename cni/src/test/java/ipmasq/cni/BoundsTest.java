package ipmasq.cni;

import static ipmasq.net.Family.IPV4;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever stands at the path or beside a config: the backend neither hangs nor fills memory. */
class BoundsTest {
  private static final String LIST =
      "{\"policies\":[{\"Type\":\"OutBoundNAT\",\"ExceptionList\":[\"10.0.0.0/8\"]}]}";
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  @TempDir Path directory;

  private Node node() {
    return new Node(directory);
  }

  private Path fifo(String name) throws Exception {
    Path fifo = directory.resolve(name);
    assertEquals(0, new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor());
    return fifo;
  }

  private void sparse(String name, long size) throws Exception {
    try (RandomAccessFile file = new RandomAccessFile(directory.resolve(name).toFile(), "rw")) {
      file.setLength(size);
    }
  }

  private static Failure unseen(Path path) {
    return assertTimeoutPreemptively(
        PATIENCE,
        () ->
            assertInstanceOf(Observation.Unseen.class, new CniBackend(path, false).observe(IPV4))
                .failure());
  }

  @Test
  void aFifoIsNotOpened() throws Exception {
    Path fifo = fifo("a.conf");
    assertEquals("cannot read " + fifo + ": it is not a regular file", unseen(fifo).message());
  }

  @Test
  void aDeviceIsNotOpened() {
    assertEquals(
        "cannot read /dev/zero: it is not a regular file", unseen(Path.of("/dev/zero")).message());
  }

  @Test
  void aFifoAmongTheConfigsIsPassedOver() throws Exception {
    node().put("a.conf", LIST);
    fifo("b.conf");
    CniBackend backend = new CniBackend(directory, false);
    Outcome outcome =
        assertTimeoutPreemptively(
            PATIENCE, () -> Node.enforce(backend, Node.exempt(IPV4, "11.0.0.0/8")));
    assertEquals(new Outcome.Applied(), outcome);
    assertEquals(LIST.replace("10.0", "11.0"), node().text("a.conf"));
  }

  @Test
  void aFifoInPlaceOfTheBackupIsSaid() throws Exception {
    Path file = node().put("a.conf", LIST);
    Path fifo = fifo("a.conf.ip-masq-agent.bak");
    Failure failure = unseen(file);
    assertEquals(
        "cannot read " + fifo.toRealPath() + ": it is not a regular file", failure.message());
  }

  @Test
  void aLargeFileIsNotRead() throws Exception {
    sparse("a.conf", 1L << 40);
    assertTrue(
        unseen(directory.resolve("a.conf")).message().endsWith(": it is larger than 16 MiB"));
  }
}
