package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.cli.InProcess;
import ipmasq.config.ParsedJson;
import ipmasq.testkit.ConfigVolume;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Probe;
import ipmasq.testkit.Result;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code explain} says is what packets do, where it takes more than our own rules to know. */
@KernelTest
@Timeout(120)
class ExplainPacketsTest {
  private Lab lab;
  private ConfigVolume volume;

  @BeforeEach
  void open() {
    lab = Lab.open();
    volume = new ConfigVolume();
  }

  @AfterEach
  void close() {
    lab.close();
    volume.close();
  }

  private void apply(String config) {
    volume.publish(config);
    lab.node().call(() -> InProcess.run("apply", "--config=" + volume.file(), "--enable-ipv6"));
  }

  private Map<String, Object> explain(String... words) {
    List<String> all = new ArrayList<>(List.of("explain", "--output=json", "--from=10.244.1.2"));
    all.addAll(List.of(words));
    String json = lab.node().call(() -> InProcess.run(all.toArray(String[]::new)));
    return ParsedJson.maps(ParsedJson.of(json)).getFirst();
  }

  /** Sends a packet and asks about it: the same comes of both. */
  private Map<String, Object> agreed(String to, String expected) {
    Map<String, Object> answer = explain(to, "--proto=udp", "--port=7777");
    InetAddress source = lab.send(Probe.udp(to)).source();
    assertEquals(expected, source.equals(Lab.POD.v4()) ? "kept" : "translated", to);
    assertEquals(expected, answer.get("actual"), to + ": " + answer);
    return answer;
  }

  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void byWhicheverInterfaceTheRouteTakes(String backend) {
    lab.addUplink("198.51.100.20", "2001:db8:9::20");
    lab.routeBy("eth1", "203.0.113.0/24");
    apply("backend: " + backend + "\noutputInterface: eth0\n");
    agreed("93.184.215.14", "translated");
    Map<String, Object> other = agreed("203.0.113.7", "kept");
    assertEquals("anything", other.get("wanted"), other.toString());
    assertTrue(String.valueOf(other.get("why")).contains("it leaves by eth1"), other.toString());
    // Rules of routing may send pods another way than the node itself.
    lab.node().run("ip", "rule", "add", "from", "10.244.1.2", "lookup", "100").ok();
    lab.node().run("ip", "route", "add", "default", "via", "198.51.100.1", "table", "100").ok();
    agreed("93.184.215.14", "kept");
  }

  /** A mark may send packets another way, and so may their port. */
  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void byAnInterfaceThatMarksAndPortsDecide(String backend) {
    lab.addUplink("198.51.100.20", "2001:db8:9::20");
    apply("backend: " + backend + "\noutputInterface: eth0\n");
    lab.node().run("ip", "route", "add", "default", "via", "198.51.100.1", "table", "100").ok();
    lab.node().run("ip", "rule", "add", "ipproto", "udp", "dport", "7777", "lookup", "100").ok();
    agreed("203.0.113.7", "kept");
    lab.node().run("ip", "rule", "del", "lookup", "100").ok();
    agreed("203.0.113.7", "translated");
    lab.node().run("ip", "rule", "add", "fwmark", "2", "lookup", "100").ok();
    lab.node()
        .nft(
            "table ip marks { chain pre { type filter hook prerouting priority mangle;"
                + " ip daddr 203.0.113.0/24 meta mark set 2; }; }");
    assertEquals(Lab.POD.v4(), lab.send(Probe.udp("203.0.113.7")).source());
    assertEquals("unknown", explain("203.0.113.7").get("actual"));
  }

  /** What nobody told of a packet may choose its way, and what was told does. */
  @ParameterizedTest
  @CsvSource({
    "ipproto udp dport 7777, translated, translated",
    "ipproto udp sport 1024-65000, unknown, unknown",
    "ipproto udp dport 7777 tos 0x10, unknown, unknown",
    "tos 0x10, unknown, unknown",
    "ipproto tcp dport 443, kept, kept"
  })
  void byAnInterfaceThatRulesOfRoutingChoose(String rule, String ofPod, String ofAny) {
    lab.addUplink("198.51.100.20", "2001:db8:9::20");
    apply("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
    lab.node().run("ip", "route", "add", "default", "via", "198.51.100.1", "table", "100").ok();
    List<String> words = new ArrayList<>(List.of("ip", "rule", "add"));
    words.addAll(List.of(rule.split(" ")));
    words.addAll(List.of("lookup", "100"));
    lab.node().run(words.toArray(String[]::new)).ok();
    lab.node()
        .nft(
            "table ip mine { chain post { type nat hook postrouting priority 90;"
                + " oifname eth1 masquerade; }; }");
    if (ofPod.equals("unknown")) {
      assertEquals(ofPod, explain("10.99.0.1", "--proto=udp", "--port=7777").get("actual"));
    } else {
      agreed("10.99.0.1", ofPod);
    }
    String json =
        lab.node()
            .call(
                () ->
                    InProcess.run(
                        "explain", "--output=json", "10.99.0.1", "--proto=udp", "--port=7777"));
    assertEquals(ofAny, ParsedJson.maps(ParsedJson.of(json)).getFirst().get("actual"), json);
    if (!ofPod.equals("unknown")) { // these do not look at ICMP
      assertEquals("kept", explain("10.99.0.1", "--proto=icmp").get("actual"));
    }
  }

  /** Rules by source decide about packets of whom nobody said where they come from. */
  @Test
  void withoutItsSourceTheInterfaceMayNotBeKnown() {
    lab.addUplink("198.51.100.20", "2001:db8:9::20");
    apply("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
    lab.node().run("ip", "route", "add", "default", "via", "198.51.100.1", "table", "100").ok();
    lab.node().run("ip", "rule", "add", "from", "10.244.1.2", "lookup", "100").ok();
    lab.node()
        .nft(
            "table ip mine { chain post { type nat hook postrouting priority 90;"
                + " oifname eth1 masquerade; }; }");
    agreed("10.99.0.1", "translated");
    String json = lab.node().call(() -> InProcess.run("explain", "--output=json", "10.99.0.1"));
    Map<String, Object> open = ParsedJson.maps(ParsedJson.of(json)).getFirst();
    assertEquals("unknown", open.get("actual"), open.toString());
  }

  /** Java does not list such interfaces. */
  @Test
  void anInterfaceWithoutAddressesIsOneToo() {
    apply("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
    lab.node().ip("link add cali1 type veth peer name far", "link set far up");
    lab.node().sysctl("ipv6/conf/cali1/disable_ipv6=1");
    lab.node().ip("link set cali1 up", "route add 10.244.7.7/32 dev cali1");
    Map<String, Object> answer = explain("10.244.7.7");
    assertEquals("kept", answer.get("actual"), answer.toString());
    assertFalse(String.valueOf(answer.get("why")).contains("no route"), answer.toString());
    lab.node().nft("add table ip mine");
    lab.node().nft("add chain ip mine post { type nat hook postrouting priority 90; }");
    lab.node().nft("add rule ip mine post oifname cali1 masquerade");
    assertEquals("translated", explain("10.244.7.7").get("actual"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"eth9", "pod0"})
  void theInterfaceThatItCameInByIsLookedUp(String in) {
    apply("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
    lab.node()
        .nft(
            "table ip mine { chain post { type nat hook postrouting priority 90; iifname "
                + in
                + " masquerade; }; }");
    agreed("10.99.0.1", in.equals("pod0") ? "translated" : "kept");
  }

  @Test
  void whatDoesNotLeaveIsSaid() {
    apply("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
    lab.node().run("ip", "route", "add", "blackhole", "203.0.113.0/24").ok();
    for (String to : List.of("203.0.113.7", "224.0.0.5", "255.255.255.255")) {
      Map<String, Object> answer = explain(to);
      assertTrue(String.valueOf(answer.get("why")).contains("nothing leaves"), answer.toString());
    }
    agreed("198.51.100.9", "translated");
  }

  @Test
  void aServicesDestinationIsDecidedElsewhere() {
    apply("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
    String rules =
        """
        *nat
        :KUBE-SERVICES - [0:0]
        :KUBE-SVC-ABC - [0:0]
        -A PREROUTING -j KUBE-SERVICES
        -A KUBE-SERVICES -d 10.96.0.1/32 -p udp -m udp --dport 7777 -j KUBE-SVC-ABC
        -A KUBE-SVC-ABC -p udp -j DNAT --to-destination 203.0.113.7
        COMMIT
        """;
    lab.node().feed(rules, "iptables-nft-restore", "--noflush").ok();
    // The config exempts the service's address, but its endpoint decides.
    assertEquals(Lab.NODE.v4(), lab.send(Probe.udp("10.96.0.1")).source());
    Map<String, Object> service = explain("10.96.0.1");
    assertEquals("unknown", service.get("actual"), service.toString());
    assertTrue(
        String.valueOf(service.get("why")).contains("by a rule of kube-proxy"), "" + service);
    agreed("203.0.113.7", "translated");
    agreed("10.96.0.2", "kept");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "flags interval;"})
  void ofLongSetsSingleElementsAreAskedFor(String flags) {
    apply("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
    StringBuilder elements = new StringBuilder("10.99.0.1");
    for (int i = 0; i < 6000; i++) {
      elements.append(", 10.").append(100 + i / 250).append('.').append(i % 250).append(".7");
    }
    String rules =
        """
        table ip mine {
          set many { type ipv4_addr; %s elements = { %s }; }
          chain post { type nat hook postrouting priority 90; ip daddr @many masquerade; }
        }
        """
            .formatted(flags, elements);
    lab.node().feed(rules, "nft", "-f", "-").ok();
    agreed("10.99.0.1", "translated");
    agreed("10.105.3.7", "translated");
    agreed("10.105.3.8", "kept");
    agreed("10.99.0.2", "kept");
    if (flags.isEmpty()) { // nft 1.0.6 crashes when it adds this to a set of ranges
      lab.node().nft("add element ip mine many { * }");
      agreed("10.99.0.2", "translated");
    }
  }

  /** Such as every node with Docker, or with a host port, has. */
  @Test
  void withoutASourceItIsAPodsPacket() {
    apply("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
    lab.node().ip("link add docker0 type bridge", "address add 172.17.0.1/16 dev docker0");
    lab.node()
        .feed(
            "*nat\n-A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE\n"
                + "-A POSTROUTING -s 127.0.0.1/32 -d 10.99.0.0/16 -j MASQUERADE\nCOMMIT\n",
            "iptables-nft-restore",
            "--noflush")
        .ok();
    agreed("10.99.0.1", "kept");
    String json = lab.node().call(() -> InProcess.run("explain", "--output=json", "10.99.0.1"));
    Map<String, Object> open = ParsedJson.maps(ParsedJson.of(json)).getFirst();
    assertEquals("kept", open.get("actual"), json);
    assertTrue(String.valueOf(open.get("why")).endsWith("; for a pod's packets"), json);
  }

  @Test
  void marksThatOthersSetBeforeAreFollowed() {
    apply("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
    lab.node()
        .feed(
            "*nat\n-A POSTROUTING -m mark --mark 0x80/0x80 -j MASQUERADE\n"
                + "-A POSTROUTING -m mark --mark 0x4000/0x4000 -j MASQUERADE\nCOMMIT\n",
            "iptables-nft-restore",
            "--noflush")
        .ok();
    agreed("10.99.0.1", "kept");
    lab.node()
        .feed(
            "*mangle\n-A PREROUTING -d 10.99.0.1 -j MARK --set-xmark 0x80/0x80\nCOMMIT\n",
            "iptables-nft-restore",
            "--noflush")
        .ok();
    agreed("10.99.0.1", "translated");
    agreed("10.99.0.2", "kept");
    // Rules of a filter are not followed: its bits may be set.
    lab.node()
        .feed(
            "*filter\n-A FORWARD -d 10.98.0.1 -j MARK --set-xmark 0x80/0x80\nCOMMIT\n",
            "iptables-nft-restore",
            "--noflush")
        .ok();
    assertEquals("unknown", explain("10.99.0.2").get("actual"));
  }

  @Test
  void icmpIsAnotherProtocolInIpv6() {
    apply("nonMasqueradeCIDRs: ['fd00::/8']\n");
    lab.node()
        .feed("*nat\n-A POSTROUTING -p ipv6-icmp -j MASQUERADE\nCOMMIT\n", "ip6tables-nft-restore")
        .ok();
    String[] pod = {"--from=fd00:244:1::2", "fd99::1", "--proto"};
    assertEquals("translated", explain(pod[0], pod[1], pod[2], "icmp").get("actual"));
    assertEquals("kept", explain(pod[0], pod[1], pod[2], "udp").get("actual"));
  }

  @Test
  void foreignChainsInOurTableAreForeign() {
    apply("nonMasqueradeCIDRs: [10.0.0.0/8]\nbackend: nftables\n");
    lab.node()
        .feed(
            """
            add chain inet ip-masq-agent mine { type nat hook postrouting priority 90; }
            add rule inet ip-masq-agent mine ip daddr 10.99.0.0/16 masquerade
            """,
            "nft",
            "-f",
            "-")
        .ok();
    agreed("10.99.0.1", "translated");
    agreed("10.98.0.1", "kept");
  }

  @ParameterizedTest
  @CsvSource({
    "10.99.0.1, translated, nat -A POSTROUTING -j MASQUERADE, iptables-legacy PREROUTING",
    "203.0.113.7, kept, raw -A PREROUTING -j CT --notrack, iptables-legacy raw PREROUTING"
  })
  void rulesThatNobodyCanListAreUnknown(String to, String actual, String rule, String place)
      throws Exception {
    try (Node node = Node.in(lab.node())) {
      node.volume().write("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
      node.commandWithConfig("apply", "--backend=nftables").ok();
      node.shell("iptables-legacy -w 5 -t " + rule).ok();
      agreed(to, actual);
      // A wrapper, as some images have: what it lists, and of which iptables, is not known.
      Path programs = Files.createDirectory(node.volume().directory().resolve("..programs"));
      Path wrapper = programs.resolve("iptables-save");
      Files.writeString(wrapper, "#!/bin/sh\necho '*nat'; echo COMMIT\n");
      assertTrue(wrapper.toFile().setExecutable(true));
      node.environment("PATH", programs.toString());
      Result json =
          node.command("explain", to, "--from=10.244.1.2", "--output=json", "--backend=nftables");
      assertTrue(json.ok().contains("\"actual\":\"unknown\""), json.toString());
      assertTrue(json.stdout().contains(place + ": "), json.toString());
    }
  }
}
