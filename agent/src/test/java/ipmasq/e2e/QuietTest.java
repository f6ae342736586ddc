package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.FakePrograms;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Probe;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A pass that finds nothing to change leaves no trace. */
@KernelTest
@Execution(ExecutionMode.CONCURRENT)
class QuietTest {
  private static final List<String> WRITERS = List.of("iptables-restore", "ip6tables-restore");

  @Test
  void resyncsWriteNothingAndCountersLiveOn() {
    try (Lab lab = Lab.open();
        Node node = Node.in(lab.node())) {
      FakePrograms programs = node.fakePrograms();
      node.volume().publish("resyncInterval: 200ms\n");
      AgentProcess agent = node.running("--enable-ipv6", "--v=2");
      lab.sendAll(destinations()).forEach(sighting -> sighting.seen());
      String counters = counters(node);
      assertTrue(
          counters.lines().filter(l -> l.contains("-A ") && !l.startsWith("[0:0]")).count() >= 5,
          "packets were counted: " + counters);
      awaitResyncs(agent, 5);
      assertEquals(counters, counters(node));
      WRITERS.forEach(writer -> assertEquals(1, programs.runs(writer), writer));
    }
  }

  @Test
  void aChangeOfOneRangeLeavesTheOthersCountersAlone() {
    try (Lab lab = Lab.open();
        Node node = Node.in(lab.node())) {
      node.volume().publish("nonMasqueradeCIDRs: [10.0.0.0/8]\nresyncInterval: 200ms\n");
      node.running();
      lab.sendAll(List.of(Probe.udp("10.9.9.9"), Probe.udp("8.8.8.8"))).forEach(s -> s.seen());
      node.volume()
          .publish("nonMasqueradeCIDRs: [172.16.0.0/12, 10.0.0.0/8]\nresyncInterval: 200ms\n");
      node.awaitRules(
          Family.IPV4, Expected.rules(Expected.LINK_LOCAL, "172.16.0.0/12", "10.0.0.0/8"));
      List<String> counted = counters(node).lines().filter(line -> line.startsWith("[1:")).toList();
      assertEquals(2, counted.size(), counters(node));
      assertTrue(counted.getFirst().contains("-d 10.0.0.0/8"), counters(node));
      assertTrue(counted.getLast().contains("-j MASQUERADE"), counters(node));
    }
  }

  private static List<Probe> destinations() {
    return List.of(
        Probe.udp("10.9.9.9"),
        Probe.tcp("172.16.1.1"),
        Probe.udp("192.168.7.7"),
        Probe.udp("169.254.169.254"),
        Probe.tcp("8.8.8.8"),
        Probe.udp("2001:db8:77::1"));
  }

  private static void awaitResyncs(AgentProcess agent, int more) {
    long before = resyncs(agent);
    Eventually.within(
        Node.PATIENCE, "resyncs", () -> resyncs(agent), count -> count >= before + more);
  }

  private static long resyncs(AgentProcess agent) {
    return agent.stderr().stream().filter(l -> l.contains("found everything in place")).count();
  }

  /** Rules with counters; what else is printed bears the time of day. */
  private static String counters(Node node) {
    return rulesOf(node.namespace().run("iptables-save", "-c", "-t", "nat").ok())
        + rulesOf(node.namespace().run("ip6tables-save", "-c", "-t", "nat").ok());
  }

  private static String rulesOf(String saved) {
    return String.join("\n", saved.lines().filter(line -> !line.startsWith("#")).toList()) + "\n";
  }
}
