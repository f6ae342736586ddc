package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.Flow;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Probe;
import ipmasq.testkit.Sighting.Seen;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of flows under way when the policy changes. */
@KernelTest
class FlowsTest {
  private Lab lab;

  @BeforeEach
  void open() {
    lab = Lab.open();
  }

  @AfterEach
  void close() {
    lab.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void udpFlowsFollowWithinASecondAndOthersKeepTheirEntry(String backend) {
    String head = "backend: " + backend + "\nconntrack: udp\nnonMasqueradeCIDRs:\n- 10.0.0.0/8\n";
    try (Node node = Node.in(lab.node())) {
      node.volume().publish(head);
      AgentProcess agent = node.running("--cleanup-on-exit");
      try (Flow concerned = lab.flow(Probe.udp("203.0.113.5"));
          Flow tcp = lab.flow(Probe.tcp("203.0.113.6"));
          Flow other = lab.flow(Probe.udp("198.51.100.7"))) {
        assertEquals(Lab.NODE.v4(), concerned.send().source());
        assertEquals(Lab.NODE.v4(), tcp.send().source());
        Seen before = other.send().seen();
        assertEquals(Lab.NODE.v4(), before.source());
        node.volume().publish(head + "- 203.0.113.0/24\n");
        agent.awaitLine(line -> line.contains("established flows follow the new rules: 1 flow"));
        Eventually.within(
            Duration.ofSeconds(1),
            "the pod's own source",
            () -> concerned.send().source(),
            Lab.POD.v4()::equals);
        assertEquals(before, other.send().seen());
        assertEquals(Lab.NODE.v4(), tcp.send().source());
        // And back again: what is masqueraded now was not before.
        node.volume().publish(head);
        Eventually.eventually(
            "the node's source", () -> concerned.send().source(), Lab.NODE.v4()::equals);
        assertEquals(before, other.send().seen());
      }
      agent.terminate();
      agent.awaitExit();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"keep", "all"})
  void keptOrAll(String conntrack) {
    String head = "backend: nftables\nconntrack: " + conntrack + "\nnonMasqueradeCIDRs:\n";
    try (Node node = Node.in(lab.node())) {
      node.volume().publish(head + "- 10.0.0.0/8\n");
      AgentProcess agent = node.running("--cleanup-on-exit");
      try (Flow udp = lab.flow(Probe.udp("203.0.113.15"));
          Flow tcp = lab.flow(Probe.tcp("203.0.113.16"))) {
        assertEquals(Lab.NODE.v4(), udp.send().source());
        assertEquals(Lab.NODE.v4(), tcp.send().source());
        node.volume().publish(head + "- 203.0.113.0/24\n");
        agent.awaitLine(line -> line.contains("+203.0.113.0/24"));
        if (conntrack.equals("all")) {
          agent.awaitLine(line -> line.contains("established flows follow the new rules: 2 flows"));
          assertEquals(Lab.POD.v4(), udp.send().source());
        } else {
          assertEquals(Lab.NODE.v4(), udp.send().source());
          assertEquals(Lab.NODE.v4(), tcp.send().source());
          assertTrue(agent.stderr().stream().noneMatch(line -> line.contains("under way")));
        }
      }
      agent.terminate();
      agent.awaitExit();
    }
  }
}
