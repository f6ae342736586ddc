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
    node.put("10-a.conf", "{\"type\":\"loopback\"}");
    node.put("20-b.conflist", "{\"plugins\":[" + LIST + ",{\"type\":\"portmap\"}]}");
    node.put("30-c.json", LIST);
    node.put("15-d.conf.disabled", LIST);
    Files.createDirectory(directory.resolve("16-e.conf"));
    backend = new CniBackend(directory, false);
  }

  private static String list(String range) {
    return "{\"plugins\":[" + LIST.replace("10.0.0.0/8", range) + ",{\"type\":\"portmap\"}]}";
  }

  @Test
  void theFirstFileThatHasThePolicyIsKept() throws Exception {
    assertEquals(APPLIED, Node.enforce(backend, Node.exempt(IPV4, "11.0.0.0/8")));
    assertEquals("{\"type\":\"loopback\"}", node.text("10-a.conf"));
    assertEquals(LIST, node.text("15-d.conf.disabled"));
    assertEquals(list("11.0.0.0/8"), node.text("20-b.conflist"));
    assertEquals(LIST, node.text("30-c.json"));
    // Nothing that a container runtime would load came to stand beside them.
    assertEquals(
        List.of("10-a.conf", "16-e.conf", "20-b.conflist", "30-c.json"),
        node.names().stream()
            .filter(n -> n.endsWith(".conf") || n.endsWith(".conflist") || n.endsWith(".json"))
            .toList());
  }

  @Test
  void aBrokenFileDoesNotKeepTheNextFromBeingWritten() throws Exception {
    node.put("10-a.conf", "{\"plugins\":[}");
    String message = "10-a.conf:1:13: expected a value, found '}'";
    assertTrue(
        Node.refused(Node.enforce(backend, Node.exempt(IPV4, "11.0.0.0/8")))
            .message()
            .endsWith(message));
    assertEquals("{\"plugins\":[}", node.text("10-a.conf"));
    assertEquals(list("11.0.0.0/8"), node.text("20-b.conflist"));
    List<String> changes = Node.changes(Node.plan(backend, Node.exempt(IPV4, "11.0.0.0/8")));
    assertEquals(1, changes.size());
    assertTrue(changes.getFirst().endsWith(message));
  }

  @Test
  void withoutThePolicyNothingIsWritten() throws Exception {
    backend = new CniBackend(directory.resolve("10-a.conf"), false);
    assertTrue(Node.observe(backend, IPV4).absent());
    assertEquals(
        List.of("~there is no OutBoundNAT policy", "+10.0.0.0/8", "+masquerade"),
        Node.changes(Node.plan(backend, Node.exempt(IPV4, "10.0.0.0/8"))));
    assertEquals(
        "there is no OutBoundNAT policy in " + directory.resolve("10-a.conf"),
        Node.refused(Node.enforce(backend, Node.exempt(IPV4, "10.0.0.0/8"))).message());
    assertEquals("{\"type\":\"loopback\"}", node.text("10-a.conf"));
  }

  @Test
  void cleanupRestoresTheList() throws Exception {
    List<String> before = node.names();
    assertTrue(Node.observe(backend, IPV4).absent());
    assertTrue(Plan.removal(Node.observe(backend, IPV4)).isEmpty());
    Node.enforce(backend, Node.exempt(IPV4, "11.0.0.0/8", "12.0.0.0/8"));
    node.put(
        "20-b.conflist",
        node.text("20-b.conflist").replace("{\"plugins\"", "{\"mtu\":9,\"plugins\""));
    assertEquals(APPLIED, Node.cleanup(backend, IPV4));
    assertEquals(
        list("10.0.0.0/8").replace("{\"plugins\"", "{\"mtu\":9,\"plugins\""),
        node.text("20-b.conflist"));
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
    Files.delete(directory.resolve("20-b.conflist.ip-masq-agent.bak"));
    assertEquals(APPLIED, Node.cleanup(backend, IPV4));
    assertEquals(list("11.0.0.0/8"), node.text("20-b.conflist"));
    assertTrue(Node.observe(backend, IPV4).absent());
  }

  @Test
  void aBackupThatDoesNotFitIsSaid() throws Exception {
    Node.enforce(backend, Node.exempt(IPV4, "11.0.0.0/8"));
    node.put("20-b.conflist.ip-masq-agent.bak", "{}");
    assertTrue(
        Node.refused(Node.cleanup(backend, IPV4))
            .message()
            .endsWith("cannot be used: only one of it and the file has a list for IPv4"));
    assertEquals(list("11.0.0.0/8"), node.text("20-b.conflist"));
  }
}
