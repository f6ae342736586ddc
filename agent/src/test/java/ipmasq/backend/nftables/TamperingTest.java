package ipmasq.backend.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.policy.Policy;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Policies;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** On a kernel that knows no owners anybody can change the table; it is mended. */
@KernelTest
@Tag("listing")
class TamperingTest {
  private static final Policy POLICY =
      Policies.pinned(
          Policies.scoped(
              Policies.exempting("10.0.0.0/8", "172.16.0.0/12"),
              List.of("10.244.0.0/16"),
              List.of("eth+")));

  private Namespace namespace;
  private Node node;

  @BeforeEach
  void open() {
    namespace = Namespace.open("tampering");
    node = new Node(namespace, false);
  }

  @AfterEach
  void close() {
    node.close();
    namespace.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "delete table inet ip-masq-agent",
        "flush table inet ip-masq-agent",
        "add table inet ip-masq-agent { flags dormant; }",
        "flush chain inet ip-masq-agent postrouting4",
        "flush chain inet ip-masq-agent pin4; delete chain inet ip-masq-agent pin4",
        "add rule inet ip-masq-agent postrouting4 accept",
        "insert rule inet ip-masq-agent postrouting4 ip daddr 10.1.0.0/16 masquerade",
        "insert rule inet ip-masq-agent pin4 accept",
        "add element inet ip-masq-agent exempt4 { 8.8.8.8 }",
        "add element inet ip-masq-agent exempt4 { 8.8.8.1-8.8.8.8, 255.255.255.0/24 }",
        "delete element inet ip-masq-agent exempt4 { 10.0.0.0/8 }",
        "flush set inet ip-masq-agent exempt4",
        "add set inet ip-masq-agent other { type inet_service; elements = { 80 }; }",
        "add element inet ip-masq-agent sources4 { 10.245.0.0/16 }",
        "flush chain inet ip-masq-agent postrouting4; delete chain inet ip-masq-agent postrouting4",
        """
        flush chain inet ip-masq-agent postrouting4
        delete chain inet ip-masq-agent postrouting4
        add chain inet ip-masq-agent postrouting4 { type nat hook postrouting priority 42; }
        """,
        """
        flush chain inet ip-masq-agent postrouting4
        delete chain inet ip-masq-agent postrouting4
        add chain inet ip-masq-agent postrouting4
        """,
        """
        flush chain inet ip-masq-agent pin4
        flush chain inet ip-masq-agent postrouting4
        add rule inet ip-masq-agent postrouting4 ip daddr @exempt4 return
        add rule inet ip-masq-agent postrouting4 masquerade
        """,
        """
        delete table inet ip-masq-agent
        add table inet ip-masq-agent
        add set inet ip-masq-agent exempt4 { type inet_service; }
        add element inet ip-masq-agent exempt4 { 80 }
        """
      })
  void whateverItIsItIsMended(String tampering) {
    node.sync(POLICY);
    String good = node.listed();
    node.others(tampering);
    assertFalse(node.plan(POLICY).isEmpty());
    node.sync(POLICY);
    assertEquals(lines(good), lines(node.listed()));
  }

  /** Versions before 0.2.0 looked up a destination's /8 in a set of its own first. */
  @Test
  void aTableOfAnEarlierVersionIsUpgradedInPlace() {
    Policy ipv6 = Policies.exempting("fd00::/8");
    node.sync(POLICY);
    node.sync(ipv6);
    String good = node.listed();
    node.others(
        """
        add set inet ip-masq-agent areas4 { type ipv4_addr; size 256; }
        add element inet ip-masq-agent areas4 { 10.0.0.0 }
        add set inet ip-masq-agent areas6 { type ipv6_addr; size 256; }
        add element inet ip-masq-agent areas6 { fd00:: }
        insert rule inet ip-masq-agent postrouting4 ip daddr & 255.0.0.0 @areas4 ip daddr @exempt4 counter return
        insert rule inet ip-masq-agent postrouting6 ip6 daddr & ff00:: @areas6 ip6 daddr @exempt6 counter return
        """);
    node.sync(POLICY);
    assertTrue(node.listed().contains("areas6"), "IPv6 is not touched with IPv4");
    node.sync(ipv6);
    assertEquals(lines(good), lines(node.listed()));
  }

  /** What was made anew stands at another place. */
  private static List<String> lines(String listed) {
    return listed.lines().sorted().toList();
  }
}
