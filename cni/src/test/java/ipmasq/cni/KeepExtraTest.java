package ipmasq.cni;

import static ipmasq.net.Family.IPV4;
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

/** Entries that people put into a list stay there, and only those. */
class KeepExtraTest {
  private static final Outcome APPLIED = new Outcome.Applied();
  @TempDir Path directory;
  private Node node;
  private CniBackend backend;

  @BeforeEach
  void aListByHand() throws Exception {
    node = new Node(directory);
    backend = new CniBackend(node.put("a.conf", list("192.168.7.0/24")), true);
  }

  private static String list(String... entries) {
    String items = entries.length == 0 ? "" : "\"" + String.join("\",\"", entries) + "\"";
    return "{\"policies\":[{\"Type\":\"OutBoundNAT\",\"ExceptionList\":[" + items + "]}]}";
  }

  private void enforce(String... ranges) {
    assertEquals(APPLIED, Node.enforce(backend, Node.exempt(IPV4, ranges)));
    assertTrue(Node.plan(backend, Node.exempt(IPV4, ranges)).isEmpty());
  }

  @Test
  void theyStayWhateverTheConfigSays() throws Exception {
    enforce("10.0.0.0/8", "11.0.0.0/8");
    assertEquals(list("10.0.0.0/8", "11.0.0.0/8", "192.168.7.0/24"), node.text("a.conf"));
    node.put("a.conf", list("172.20.0.0/16", "10.0.0.0/8", "11.0.0.0/8", "192.168.7.0/24"));
    enforce("10.0.0.0/8");
    assertEquals(list("10.0.0.0/8", "172.20.0.0/16", "192.168.7.0/24"), node.text("a.conf"));
    enforce();
    assertEquals(list("172.20.0.0/16", "192.168.7.0/24"), node.text("a.conf"));
  }

  @Test
  void oneThatTheConfigNamesTooIsStillAPersons() throws Exception {
    enforce("192.168.7.0/24", "10.0.0.0/8");
    assertTrue(Node.plan(backend, Node.exempt(IPV4, "10.0.0.0/8")).isEmpty());
    assertEquals(list("192.168.7.0/24", "10.0.0.0/8"), node.text("a.conf"));
  }

  @Test
  void oneThatTheAgentRemovedMayBePutBackByHand() throws Exception {
    enforce("10.0.0.0/8", "11.0.0.0/8");
    enforce("10.0.0.0/8");
    node.put("a.conf", list("10.0.0.0/8", "192.168.7.0/24", "11.0.0.0/8"));
    assertTrue(Node.plan(backend, Node.exempt(IPV4, "10.0.0.0/8")).isEmpty());
  }

  @Test
  void oneThatComesWhileThePlanIsMadeStays() throws Exception {
    var desired = backend.normalize(Node.exempt(IPV4, "10.0.0.0/8"), Node.observe(backend, IPV4));
    node.put("a.conf", list("192.168.7.0/24", "172.20.0.0/16"));
    assertEquals(APPLIED, backend.apply(Plan.toward(desired, Node.observe(backend, IPV4))));
    assertEquals(list("10.0.0.0/8", "192.168.7.0/24", "172.20.0.0/16"), node.text("a.conf"));
  }

  @Test
  void whatIsNoCidrStaysToo() throws Exception {
    node.put("a.conf", list("192.168.7.1", "10.0.0.0/8"));
    enforce("10.0.0.0/8", "11.0.0.0/8");
    assertEquals(list("10.0.0.0/8", "11.0.0.0/8", "192.168.7.1"), node.text("a.conf"));
    assertEquals(1, Node.observe(backend, IPV4).remarks().size());
  }

  @Test
  void anAgentThatWasExactKnowsItsOwn() throws Exception {
    CniBackend exact = new CniBackend(directory.resolve("a.conf"), false);
    assertEquals(APPLIED, Node.enforce(exact, Node.exempt(IPV4, "10.0.0.0/8", "11.0.0.0/8")));
    enforce("10.0.0.0/8");
    assertEquals(list("10.0.0.0/8"), node.text("a.conf"));
  }

  @Test
  void aBrokenListOfOwnedEntriesMakesEveryEntryAPersons() throws Exception {
    enforce("10.0.0.0/8");
    Files.writeString(directory.resolve("a.conf.ip-masq-agent.own"), "{broken");
    enforce("11.0.0.0/8");
    assertEquals(list("11.0.0.0/8", "10.0.0.0/8", "192.168.7.0/24"), node.text("a.conf"));
  }

  @Test
  void cleanupLeavesThemAndWhatWasThereBefore() throws Exception {
    enforce("10.0.0.0/8");
    node.put("a.conf", list("10.0.0.0/8", "192.168.7.0/24", "172.20.0.0/16"));
    assertEquals(APPLIED, Node.cleanup(backend, IPV4));
    assertEquals(list("192.168.7.0/24", "172.20.0.0/16"), node.text("a.conf"));
    assertEquals(List.of("a.conf"), node.names());
  }
}
