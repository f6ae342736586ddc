package ipmasq.cni;

import static ipmasq.net.Family.IPV4;
import static ipmasq.net.Family.IPV6;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Outcome;
import ipmasq.plan.Plan;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A directory of configs, and taking everything back. */
class DirectoryTest {
  private static final Outcome APPLIED = new Outcome.Applied();
  private static final String LIST =
      "{\"policies\":[{\"Type\":\"OutBoundNAT\",\"ExceptionList\":[\"10.0.0.0/8\"]}]}";
  @TempDir Path directory;
  private Node node;
  private CniBackend backend;

  @BeforeEach
  void configs() throws Exception {
    node = new Node(directory);
    node.put("10-a.conf", LIST);
    node.put("20-b.conflist", "{\"plugins\":[" + LIST + ",{\"type\":\"portmap\"}]}");
    node.put("30-c.json", LIST);
    node.put("40-d.conf", "{\"type\":\"loopback\"}");
    node.put("50-e.conf.disabled", LIST);
    Files.createDirectory(directory.resolve("60-f.conf"));
    backend = new CniBackend(directory, false, false);
  }

  @Test
  void everyFileThatHasThePolicyIsKept() throws Exception {
    assertEquals(APPLIED, Node.enforce(backend, Node.exempt(IPV4, "11.0.0.0/8")));
    String changed = LIST.replace("10.0", "11.0");
    assertEquals(changed, node.text("10-a.conf"));
    assertEquals(
        "{\"plugins\":[" + changed + ",{\"type\":\"portmap\"}]}", node.text("20-b.conflist"));
    assertEquals(changed, node.text("30-c.json"));
    assertEquals("{\"type\":\"loopback\"}", node.text("40-d.conf"));
    assertEquals(LIST, node.text("50-e.conf.disabled"));
    // Nothing that a container runtime would load came to stand beside them.
    assertEquals(
        List.of("10-a.conf", "20-b.conflist", "30-c.json", "40-d.conf", "60-f.conf"),
        node.names().stream()
            .filter(n -> n.endsWith(".conf") || n.endsWith(".conflist") || n.endsWith(".json"))
            .toList());
  }

  @Test
  void aBrokenFileDoesNotKeepTheOthersFromBeingWritten() throws Exception {
    node.put("20-b.conflist", "{\"plugins\":[}");
    String message = "20-b.conflist:1:13: expected a value, found '}'";
    assertTrue(
        Node.refused(Node.enforce(backend, Node.exempt(IPV4, "11.0.0.0/8")))
            .message()
            .endsWith(message));
    assertEquals("{\"plugins\":[}", node.text("20-b.conflist"));
    assertEquals(LIST.replace("10.0", "11.0"), node.text("30-c.json"));
    List<String> changes = Node.changes(Node.plan(backend, Node.exempt(IPV4, "11.0.0.0/8")));
    assertEquals(1, changes.size());
    assertTrue(changes.getFirst().endsWith(message));
  }

  @Test
  void cleanupRestoresTheLists() throws Exception {
    List<String> before = node.names();
    assertTrue(Node.observe(backend, IPV4).absent());
    assertTrue(Plan.removal(Node.observe(backend, IPV4)).isEmpty());
    Node.enforce(backend, Node.exempt(IPV4, "11.0.0.0/8", "12.0.0.0/8"));
    node.put(
        "30-c.json", node.text("30-c.json").replace("{\"policies\"", "{\"mtu\":9,\"policies\""));
    assertEquals(APPLIED, Node.cleanup(backend, IPV4));
    assertEquals(LIST, node.text("10-a.conf"));
    assertEquals(LIST.replace("{\"policies\"", "{\"mtu\":9,\"policies\""), node.text("30-c.json"));
    assertEquals(before, node.names());
    assertTrue(Node.observe(backend, IPV4).absent());
  }

  @Test
  void cleanupOfAnotherFamilyTakesNothing() throws Exception {
    Node.enforce(backend, Node.exempt(IPV4, "11.0.0.0/8"));
    assertTrue(Plan.removal(Node.observe(backend, IPV6)).isEmpty());
  }

  @Test
  void withoutItsBackupAListStaysAsItIs() throws Exception {
    Node.enforce(backend, Node.exempt(IPV4, "11.0.0.0/8"));
    Files.delete(directory.resolve("10-a.conf.ip-masq-agent.bak"));
    assertEquals(APPLIED, Node.cleanup(backend, IPV4));
    assertEquals(LIST.replace("10.0", "11.0"), node.text("10-a.conf"));
    assertTrue(Node.observe(backend, IPV4).absent());
  }

  @Test
  void aBackupThatDoesNotFitIsSaid() throws Exception {
    Node.enforce(backend, Node.exempt(IPV4, "11.0.0.0/8"));
    node.put("10-a.conf", "{\"plugins\":[" + LIST + "," + LIST + "]}");
    assertTrue(
        Node.refused(Node.cleanup(backend, IPV4))
            .message()
            .endsWith("cannot be used: it has 1 lists for IPv4, the file has 2"));
    assertEquals(LIST, node.text("30-c.json"));
  }
}
