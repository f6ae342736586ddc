package ipmasq.backend.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Tally;
import ipmasq.plan.Tally.Counter;
import ipmasq.policy.Policy;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Policies;
import ipmasq.testkit.Probe;
import ipmasq.testkit.Sighting;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Packets and their counters while the policy changes. */
@KernelTest
class ChangePacketsTest {
  private Lab lab;
  private Node node;

  @BeforeEach
  void open() {
    lab = Lab.open();
    node = new Node(lab.node(), true);
  }

  @AfterEach
  void close() {
    node.close();
    lab.close();
  }

  @Test
  void rangesAndRulesThatStayGoOnCounting() {
    node.sync(Policies.exempting("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"));
    for (String to : List.of("10.1.1.1", "10.1.1.2", "192.168.1.1", "203.0.113.1")) {
      lab.send(Probe.udp(to)).seen();
    }
    node.sync(Policies.exempting("10.0.0.0/8", "198.18.0.0/15", "192.168.0.0/17"));
    Tally tally = node.observe(Family.IPV4).tally().orElseThrow();
    assertEquals(2, tally.ranges().get(Cidr.of("10.0.0.0/8")).packets());
    assertEquals(Counter.NONE, tally.ranges().get(Cidr.of("192.168.0.0/17")));
    assertEquals(3, tally.exempted().packets());
    assertEquals(1, tally.translated().packets());
  }

  /** Ranges come and go beside two that stay; each change shrinks, grows and splits some. */
  @Test
  void noPacketHasAWrongSourceWhileRangesChange() throws Exception {
    Policy even =
        Policies.exempting("10.0.0.0/8", "203.0.113.0/25", "198.51.100.0/24", "20.0.0.0/8");
    Policy odd =
        Policies.exempting(
            "10.0.0.0/9", "10.128.0.0/9", "203.0.113.0/26", "20.0.0.0/9", "20.200.0.0/16");
    node.sync(even);
    AtomicBoolean over = new AtomicBoolean();
    CompletableFuture<List<String>> wrong = new CompletableFuture<>();
    Thread.ofPlatform().start(() -> sample(over, wrong));
    for (int i = 0; i < 150; i++) {
      node.sync(i % 2 == 0 ? odd : even);
    }
    over.set(true);
    assertEquals(List.of(), wrong.get());
  }

  private void sample(AtomicBoolean over, CompletableFuture<List<String>> result) {
    try {
      int packets = 0;
      List<String> wrong = new ArrayList<>();
      List<String> exempt = List.of("10.1.2.3", "10.200.2.3", "203.0.113.7", "20.1.1.1");
      while (!over.get()) {
        List<Probe> probes = new ArrayList<>();
        exempt.forEach(to -> probes.add(Probe.udp(to)));
        probes.add(Probe.udp("203.0.113.200"));
        probes.add(Probe.udp("8.8.8.8"));
        List<Sighting> sightings = lab.sendAll(probes);
        for (int i = 0; i < probes.size(); i++) {
          InetAddress right = i < exempt.size() ? Lab.POD.v4() : Lab.NODE.v4();
          if (!sightings.get(i).source().equals(right)) {
            wrong.add(probes.get(i) + ": " + sightings.get(i));
          }
          packets++;
        }
      }
      assertTrue(packets > 200, "packets: " + packets);
      result.complete(wrong);
    } catch (RuntimeException | Error e) {
      result.completeExceptionally(e);
    }
  }
}
