package ipmasq.cni;

import static ipmasq.net.Family.IPV4;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import ipmasq.backend.Outcome;
import ipmasq.backend.Watch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A look that opens no file sees what somebody did to the configs. */
class CniWatchTest {
  private static final String LIST =
      "{\"policies\":[{\"Type\":\"OutBoundNAT\",\"ExceptionList\":[\"10.0.0.0/8\"]}]}";
  @TempDir Path directory;
  private Node node;
  private Watch watch;

  @BeforeEach
  void aConfig() throws Exception {
    node = new Node(directory);
    node.put("a.conf", LIST);
    watch = new CniBackend(directory, false).watch();
  }

  private interface Act {
    void run() throws Exception;
  }

  private void sees(Act act) throws Exception {
    Object before = watch.freshFingerprint().orElseThrow();
    assertEquals(before, watch.fingerprint().orElseThrow());
    act.run();
    assertNotEquals(before, watch.fingerprint().orElseThrow());
  }

  @Test
  void anEdit() throws Exception {
    sees(() -> node.put("a.conf", LIST.replace("/8", "/16")));
  }

  @Test
  void anEditThatKeepsTheSize() throws Exception {
    Path file = directory.resolve("a.conf");
    sees(
        () -> {
          node.put("a.conf", LIST.replace("10.0", "11.0"));
          Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000_000_000L));
        });
  }

  @Test
  void anotherFileInItsPlace() throws Exception {
    Path file = directory.resolve("a.conf");
    FileTime time = Files.getLastModifiedTime(file);
    Path other = node.put("other", LIST.replace("10.0", "11.0"));
    Files.setLastModifiedTime(other, time);
    sees(() -> Files.move(other, file, StandardCopyOption.REPLACE_EXISTING));
  }

  @Test
  void aLinkThatLeadsElsewhere() throws Exception {
    Path other = node.put("other", LIST);
    Path link = Files.createSymbolicLink(directory.resolve("b.conf"), other);
    sees(
        () -> {
          Files.delete(link);
          Files.createSymbolicLink(link, directory.resolve("a.conf"));
        });
  }

  @Test
  void aNewConfig() throws Exception {
    sees(() -> node.put("b.conf", LIST));
  }

  @Test
  void aConfigThatIsGone() throws Exception {
    sees(() -> Files.delete(directory.resolve("a.conf")));
  }

  @Test
  void theOnlyConfigGone() throws Exception {
    watch = new CniBackend(directory.resolve("a.conf"), false).watch();
    sees(() -> Files.delete(directory.resolve("a.conf")));
  }

  /** With {@code --cni-keep-extra} it says which entries are people's. */
  @Test
  void aListOfOwnedEntriesThatIsGone() throws Exception {
    CniBackend backend = new CniBackend(directory, true);
    assertEquals(
        new Outcome.Applied(),
        Node.enforce(backend, Node.exempt(IPV4, "10.0.0.0/8", "11.0.0.0/8")));
    sees(() -> Files.delete(directory.resolve("a.conf.ip-masq-agent.own")));
  }

  @Test
  void whatIsNoConfigIsNobodysBusiness() throws Exception {
    Object before = watch.freshFingerprint().orElseThrow();
    node.put("readme.txt", "hello");
    assertEquals(before, watch.fingerprint().orElseThrow());
  }

  /** The stamps of files can be forged, so a pass never takes them for the files. */
  @Test
  void aLookAnewNeverEqualsAnEarlierOne() {
    Object before = watch.freshFingerprint().orElseThrow();
    assertNotEquals(before, watch.freshFingerprint().orElseThrow());
  }
}
