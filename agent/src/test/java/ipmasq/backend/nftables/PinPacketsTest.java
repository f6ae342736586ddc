package ipmasq.backend.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.net.Family;
import ipmasq.policy.Policy;
import ipmasq.testkit.Addresses;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Policies;
import ipmasq.testkit.Probe;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What pinning does where others masquerade too. */
@KernelTest
class PinPacketsTest {
  private static final Policy V4 = Policies.exempting("10.0.0.0/8");
  private static final Policy V6 = Policies.exempting("fd00::/8");

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

  @ParameterizedTest
  @ValueSource(
      strings = {
        "iptables",
        "add table inet cni; add chain inet cni c { type nat hook postrouting priority 90; };"
            + " add rule inet cni c oifname eth0 masquerade",
        "add table inet cni; add chain inet cni c { type nat hook postrouting priority 110; };"
            + " add rule inet cni c oifname eth0 masquerade"
      })
  void exemptTrafficKeepsItsSourceThoughOthersMasqueradeEverything(String others) {
    if (others.equals("iptables")) {
      for (String program : List.of("iptables", "ip6tables")) {
        lab.node().run(program, "-t", "nat", "-A", "POSTROUTING", "-j", "MASQUERADE").ok();
      }
    } else {
      node.others(others);
    }
    node.sync(V4);
    node.sync(V6);
    assertSource(Lab.NODE, "10.1.2.3");
    assertSource(Lab.NODE, "fd00:9::1");
    node.sync(Policies.pinned(V4));
    node.sync(Policies.pinned(V6));
    assertSource(Lab.POD, "10.1.2.3");
    assertSource(Lab.POD, "fd00:9::1");
    assertSource(Lab.NODE, "203.0.113.5");
    assertSource(Lab.NODE, "2001:db8:ffff::5");
    node.sync(V4);
    assertSource(Lab.NODE, "10.1.2.3");
  }

  @Test
  void onlyWhatIsOursIsPinned() {
    node.others(
        "add table inet cni; add chain inet cni c { type nat hook postrouting priority 90; };"
            + " add rule inet cni c oifname eth0 masquerade");
    node.sync(Policies.pinned(Policies.scoped(V4, List.of("10.244.7.0/24"), List.of("eth0"))));
    assertSource(Lab.NODE, "10.1.2.3");
    Namespace other = lab.addPod("10.244.7.2", "fd00:244:7::2");
    assertEquals(
        InetAddress.ofLiteral("10.244.7.2"), lab.send(Probe.udp("10.1.2.3").from(other)).source());
  }

  /**
   * kube-proxy, reduced to what matters here: a node port and a service address that lead to a pod,
   * and a mark for flows whose answers must come back by this node.
   */
  private static final String KUBE_PROXY =
      """
      add table ip kube-proxy
      add chain ip kube-proxy pre { type nat hook prerouting priority -100; }
      add rule ip kube-proxy pre ip daddr 172.30.0.1 meta mark set mark or 0x4000 dnat to 10.9.9.9
      add rule ip kube-proxy pre ip daddr 192.0.2.10 udp dport 30080 meta mark set mark or 0x4000 dnat to 10.244.1.2:7777
      add chain ip kube-proxy post { type nat hook postrouting priority 100; }
      add rule ip kube-proxy post mark and 0x4000 != 0 masquerade fully-random
      """;

  @Test
  void serviceTrafficIsMasqueradedAsItWas() {
    node.others(KUBE_PROXY);
    node.sync(Policies.pinned(V4));
    // A pod to a service whose endpoint is exempt: kube-proxy decides.
    assertSource(Lab.NODE, "172.30.0.1");
    // A client outside to a node port: the pod sees the node, and so answers it.
    InetAddress seen =
        lab.send(Probe.udp("192.0.2.10").port(30080).from(lab.outside()).source("192.0.2.1"))
            .source();
    assertEquals(InetAddress.ofLiteral("10.244.1.1"), seen);
    // The same endpoint without the service keeps the pod's address.
    assertSource(Lab.POD, "10.9.9.9");
  }

  private void assertSource(Addresses expected, String destination) {
    InetAddress to = InetAddress.ofLiteral(destination);
    assertEquals(expected.like(to), lab.send(Probe.udp(to)).source(), destination);
  }

  @Test
  void takingTheFamilyAwayTakesThePinToo() {
    node.sync(Policies.pinned(V4));
    node.remove(Family.IPV4);
    assertEquals("", lab.node().nft("list", "tables"));
  }
}
