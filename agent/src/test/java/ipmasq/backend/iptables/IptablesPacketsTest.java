package ipmasq.backend.iptables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.PortRange;
import ipmasq.policy.Packet;
import ipmasq.policy.Policy;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Policies;
import ipmasq.testkit.Probe;
import ipmasq.testkit.Sighting;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the rules do to real packets. */
@KernelTest
class IptablesPacketsTest {
  private static final Cidr POD_NET = Cidr.of("10.244.0.0/16");
  private static Lab lab;

  @BeforeAll
  static void open() {
    lab = Lab.open();
  }

  @AfterAll
  static void close() {
    lab.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"nft", "legacy"})
  void aChangeKeepsTheCountersOfWhatStays(String variant) throws IOException {
    try (KernelTable table = new KernelTable(lab.node(), variant)) {
      table.sync(Policies.exempting("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"));
      table.others(Family.IPV4, "-A POSTROUTING -d 203.0.113.1/32 -j ACCEPT\n");
      for (String to : List.of("10.1.1.1", "192.168.1.1", "203.0.113.1")) {
        lab.send(Probe.udp(to)).seen();
      }
      String before = table.counted(Family.IPV4);
      assertTrue(line(before, "-d 10.0.0.0/8").startsWith("[1:"), before);
      assertTrue(line(before, "-j MASQUERADE").startsWith("[1:"), before);
      assertTrue(
          table
              .sync(Policies.exempting("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
              .isEmpty());
      assertEquals(before, table.counted(Family.IPV4));
      table.sync(Policies.exempting("10.0.0.0/8", "198.18.0.0/15"));
      assertEquals(
          before
              .replace(line(before, "-d 192.168.0.0/16"), "")
              .replace("172.16.0.0/12", "198.18.0.0/15"),
          table.counted(Family.IPV4));
      table.remove(Family.IPV4);
      table.others(Family.IPV4, "-F POSTROUTING\n");
    }
  }

  private static String line(String lines, String part) {
    return lines.lines().filter(line -> line.contains(part)).findFirst().orElseThrow() + "\n";
  }

  @ParameterizedTest
  @ValueSource(strings = {"nft", "legacy"})
  void theOutsideSeesWhatThePolicySays(String variant) throws IOException {
    try (KernelTable table = new KernelTable(lab.node(), variant)) {
      for (Policy policy : policies()) {
        table.sync(policy);
        judge(policy);
      }
      table.remove(Family.IPV4);
      table.remove(Family.IPV6);
    }
  }

  private static List<Policy> policies() {
    String[] nested = {"10.1.2.0/24", "!10.1.0.0/16", "10.0.0.0/8", "!0.0.0.0/0"};
    String[] nested6 = {"fd00:1:2::/48", "!fd00:1::/32", "fd00::/8"};
    Policy v4 = Policies.exempting(nested);
    Policy v6 = Policies.exempting(nested6);
    PortRange[] ports = {new PortRange(61_000, 61_999), new PortRange(63_000, 63_000)};
    return List.of(
        Policies.exempting("169.254.0.0/16", "10.0.0.0/8"),
        Policies.exempting("0.0.0.0/0"),
        v4,
        v6,
        Policies.scoped(v4, List.of("10.9.0.0/16", POD_NET.toString()), List.of("eth+", "other")),
        Policies.scoped(v4, List.of("10.9.0.0/16"), List.of()),
        Policies.scoped(v4, List.of(), List.of("eth1")),
        Policies.scoped(v6, List.of("fd00:244::/32"), List.of("eth0")),
        Policies.of(Family.IPV4, Policies.ports(ports), nested),
        Policies.of(Family.IPV4, Policies.snat("192.0.2.10", "192.0.2.10", ports), nested),
        Policies.of(Family.IPV4, Policies.snat("192.0.2.10", "192.0.2.10"), "10.0.0.0/8"),
        Policies.of(
            Family.IPV6, Policies.snat("2001:db8:2::10", "2001:db8:2::10", ports), nested6));
  }

  private static void judge(Policy policy) {
    List<String> destinations =
        policy.family() == Family.IPV4
            ? List.of("10.1.2.3", "10.1.3.3", "10.2.0.1", "169.254.7.7", "203.0.113.9", "8.8.8.8")
            : List.of("fd00:1:2::3", "fd00:1:3::3", "fd00:2::1", "2001:db8:ffff::9");
    List<Probe> probes = new ArrayList<>();
    destinations.forEach(to -> probes.add(Probe.udp(to)));
    List<Sighting> sightings = lab.sendAll(probes);
    for (int i = 0; i < destinations.size(); i++) {
      InetAddress to = InetAddress.ofLiteral(destinations.get(i));
      Ip source = Ip.of(Lab.POD.like(to).getHostAddress());
      boolean translated =
          policy
              .verdictFor(new Packet(source, Ip.of(destinations.get(i)), false, "eth0"))
              .translated();
      assertEquals(
          (translated ? Lab.NODE : Lab.POD).like(to),
          sightings.get(i).source(),
          policy + " to " + to.getHostAddress());
      if (translated && !policy.translation().ports().isEmpty()) {
        int port = sightings.get(i).seen().port();
        assertTrue(
            policy.translation().ports().stream()
                .anyMatch(range -> range.first() <= port && port <= range.last()),
            "port " + port);
      }
    }
  }
}
