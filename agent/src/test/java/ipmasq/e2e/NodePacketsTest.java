package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.cli.InProcess;
import ipmasq.config.ParsedJson;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Probe;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code explain} says of the node's own packets, which pass other chains than pods'. */
@KernelTest
@Timeout(120)
class NodePacketsTest {
  /** An address of the node that is not the uplink's, so that a translation shows. */
  private static final String OWN = "198.51.100.77";

  private static final String MARKED = "203.0.113.7";
  private static final String OTHER = "203.0.114.7";

  private Lab lab;
  private Node node;

  @BeforeEach
  void open() {
    lab = Lab.open();
    node = Node.in(lab.node());
    lab.node().ip("address add " + OWN + "/32 dev lo");
    node.volume().write("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
  }

  @AfterEach
  void close() {
    node.close();
    lab.close();
  }

  private Map<String, Object> explain(String from, String to) {
    String json =
        lab.node().call(() -> InProcess.run("explain", "--output=json", "--from=" + from, to));
    return ParsedJson.maps(ParsedJson.of(json)).getFirst();
  }

  private void assertNode(String expected, String to) {
    Probe probe = Probe.udp(to).from(lab.node()).source(OWN);
    String source = lab.send(probe).source().getHostAddress();
    assertEquals(expected, source.equals(OWN) ? "kept" : "translated", to);
    assertEquals(expected, explain(OWN, to).get("actual"), () -> "" + explain(OWN, to));
  }

  private void assertPod(String expected, String to) {
    boolean kept = lab.send(Probe.udp(to)).source().equals(Lab.POD.v4());
    assertEquals(expected, kept ? "kept" : "translated", to);
    assertEquals(
        expected, explain("10.244.1.2", to).get("actual"), () -> "" + explain("10.244.1.2", to));
  }

  @Test
  void masqueradingGivesThemTheAddressThatTheyMayHave() {
    node.commandWithConfig("apply").ok();
    String uplink = Lab.NODE.v4().getHostAddress();
    Probe probe = Probe.udp(OTHER).from(lab.node()).source(uplink);
    assertEquals(uplink, lab.send(probe).source().getHostAddress());
    assertEquals("kept", explain(uplink, OTHER).get("actual"));
    assertNode("translated", OTHER);
  }

  @Test
  void theirWayMayDependOnTheirSource() {
    lab.addUplink("198.51.100.20", "2001:db8:9::20");
    node.volume().write("nonMasqueradeCIDRs: [10.0.0.0/8]\noutputInterface: eth0\n");
    node.commandWithConfig("apply").ok();
    lab.node().run("ip", "rule", "add", "from", OWN, "lookup", "100").ok();
    lab.node().run("ip", "route", "add", "default", "via", "198.51.100.1", "table", "100").ok();
    assertNode("kept", MARKED);
    assertPod("translated", MARKED);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "iptables-nft -t raw -A OUTPUT -d 203.0.113.0/24 -j CT --notrack",
        "iptables-legacy -w 5 -t raw -A OUTPUT -d 203.0.113.0/24 -j CT --notrack",
        "nft 'table ip mine { chain out { type filter hook output priority raw;"
            + " oifname eth0 ip daddr 203.0.113.0/24 notrack; }; }'"
      })
  void whatIsNotTrackedIsNotTranslated(String rule) {
    node.commandWithConfig("apply").ok();
    node.shell(rule).ok();
    assertNode("kept", MARKED);
    assertNode("translated", OTHER);
    assertPod("translated", MARKED);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "iptables-nft -t raw -A PREROUTING -d 203.0.113.0/24 -j CT --notrack",
        "iptables-legacy -w 5 -t raw -A PREROUTING -d 203.0.113.0/24 -j CT --notrack",
        "nft 'table ip mine { chain pre { type filter hook prerouting priority raw;"
            + " ip daddr 203.0.113.0/24 notrack; }; }'"
      })
  void whatPodsPassTheNodesOwnPacketsDoNot(String rule) {
    node.commandWithConfig("apply").ok();
    node.shell(rule).ok();
    assertNode("translated", MARKED);
    assertPod("kept", MARKED);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "iptables-nft -t nat -A OUTPUT -d 203.0.113.7 -j DNAT --to-destination 10.9.9.9",
        "iptables-legacy -w 5 -t nat -A OUTPUT -d 203.0.113.7 -j DNAT --to-destination 10.9.9.9",
        "nft 'table ip mine { chain out { type nat hook output priority -100;"
            + " ip daddr 203.0.113.7 dnat to 10.9.9.9; }; }'"
      })
  void theirDestinationMayChangeToo(String rule) {
    node.commandWithConfig("apply", "--backend=nftables").ok();
    node.shell(rule).ok();
    Map<String, Object> changed = explain(OWN, MARKED);
    assertEquals("unknown", changed.get("actual"), changed::toString);
    assertTrue(
        String.valueOf(changed.get("why")).startsWith("its destination is changed before"),
        changed::toString);
    assertNode("translated", OTHER);
    assertPod("translated", MARKED);
  }
}
