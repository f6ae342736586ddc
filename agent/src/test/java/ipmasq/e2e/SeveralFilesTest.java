package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.KernelTest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several files as one config: a directory, as the Azure agent reads it, or repeated flags. */
@KernelTest
class SeveralFilesTest {
  private static final String CLUSTER =
      "nonMasqueradeCIDRs: [10.0.0.0/8, 10.1.0.0/16]\nmasqLinkLocal: false\n";
  private static final String SITE =
      "nonMasqueradeCIDRs: [172.20.0.0/14, 10.0.0.0/8]\nmasqLinkLocal: true\n";
  private static final List<String> UNITED =
      Expected.rules("10.0.0.0/8", "10.1.0.0/16", "172.20.0.0/14");

  @Test
  void aDirectoryIsOneConfigAndItsFilesComeAndGo() {
    try (Node node = Node.open()) {
      node.volume()
          .publish(
              Map.of("ip-masq-a", CLUSTER, "ip-masq-b", SITE, "other", "nonMasqueradeCIDRs: 7"));
      try (AgentProcess agent = start(node, node.volume().directory())) {
        Node.awaitFirstPass(agent);
        assertEquals(UNITED, node.rules(Family.IPV4));
        node.volume().publish(Map.of("ip-masq-b", SITE));
        node.awaitRules(Family.IPV4, Expected.rules("172.20.0.0/14", "10.0.0.0/8"));
        node.volume().publish(Map.of("ip-masq-b", SITE, "ip-masq-a", CLUSTER));
        node.awaitRules(Family.IPV4, UNITED);
      }
    }
  }

  @Test
  void oneBadFileIsNamedAndTheGoodOnesStayInForce() {
    try (Node node = Node.open()) {
      node.volume().publish(Map.of("ip-masq-a", CLUSTER, "ip-masq-b", SITE));
      try (AgentProcess agent = start(node, node.volume().directory())) {
        Node.awaitFirstPass(agent);
        node.volume()
            .publish(Map.of("ip-masq-a", "nonMasqueradeCIDRs: [10.0.0.1/8]", "ip-masq-b", SITE));
        agent.awaitLine(
            line -> line.contains("ip-masq-a:1:22: CIDR \"10.0.0.1/8\" is not aligned"));
        agent.awaitLine(line -> line.contains("the last good one stays in force"));
        node.iptables(Family.IPV4, "-F IP-MASQ-AGENT");
        node.awaitRules(Family.IPV4, UNITED);
        node.volume()
            .publish(
                Map.of(
                    "ip-masq-a",
                    CLUSTER + "resyncInterval: 30s\n",
                    "ip-masq-b",
                    SITE + "resyncInterval: 40s\n"));
        String contradiction =
            agent.awaitLine(line -> line.contains("resyncInterval contradicts that of "));
        assertTrue(
            contradiction.contains("ip-masq-b:3") && contradiction.contains("ip-masq-a:3"),
            contradiction);
        assertEquals(UNITED, node.rules(Family.IPV4));
      }
    }
  }

  @Test
  void theFlagRepeated(@TempDir Path directory) throws Exception {
    Path first = Files.writeString(directory.resolve("first.yaml"), CLUSTER);
    Path second = Files.writeString(directory.resolve("second.yaml"), SITE);
    try (Node node = Node.open();
        AgentProcess agent = start(node, first, second)) {
      Node.awaitFirstPass(agent);
      assertEquals(UNITED, node.rules(Family.IPV4));
      Files.writeString(second, "{}");
      node.awaitRules(Family.IPV4, Expected.rules("169.254.0.0/16", "10.0.0.0/8", "10.1.0.0/16"));
    }
  }

  @Test
  void anOutputAddressThatNobodyHoldsIsWarnedOfOnce() {
    try (Node node = Node.open()) {
      node.namespace().ip("addr add 192.0.2.10/32 dev lo");
      node.volume().publish("outputAddress: 192.0.2.10\nresyncInterval: 200ms\n");
      AgentProcess agent = node.running();
      node.volume().publish("outputAddress: 192.0.2.99\nresyncInterval: 200ms\n");
      String nobody = "no interface of this node holds outputAddress 192.0.2.99";
      agent.awaitLine(line -> line.contains(nobody));
      node.volume().publish("outputAddress: 192.0.2.9-192.0.2.10\nresyncInterval: 200ms\n");
      agent.awaitLine(
          line -> line.contains("hold only 1 of the 2 addresses of outputAddress 192.0.2.9-"));
      assertEquals(1, agent.stderr().stream().filter(line -> line.contains(nobody)).count());
      assertEquals(2, agent.stderr().stream().filter(line -> line.contains("WARN")).count());
    }
  }

  private static AgentProcess start(Node node, Path... configs) {
    return AgentProcess.start(
        node.namespace(),
        Stream.of(configs).map(path -> "--config=" + path).toArray(String[]::new));
  }
}
