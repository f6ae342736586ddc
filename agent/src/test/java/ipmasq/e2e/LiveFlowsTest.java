package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.config.ParsedJson;
import ipmasq.faults.Form;
import ipmasq.http.Fetch;
import ipmasq.net.Family;
import ipmasq.netlink.Events;
import ipmasq.netlink.conntrack.Conntrack;
import ipmasq.netlink.conntrack.Flow;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.Probe;
import ipmasq.testkit.Result;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the agent says of live flows is what happened to them. */
@KernelTest
@Timeout(300)
class LiveFlowsTest {
  private static final InetSocketAddress AGENT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 10348);
  private static final String LISTEN = "--listen=127.0.0.1:10348";
  private static final String POD2 = "10.244.2.2";
  private static final Path THIS_THREAD = Path.of("/proc/thread-self/schedstat");
  private static final int FLOWS = 2_000;
  private static final int MANY = Form.of(5_000, 100_000);

  private Lab lab;
  private Node node;

  @BeforeEach
  void open() {
    lab = Lab.open();
    node = Node.in(lab.node());
  }

  @AfterEach
  void close() {
    node.close();
    lab.close();
  }

  private static String config(String backend) {
    return "backend: "
        + backend
        + "\nenableIPv6: true\nnonMasqueradeCIDRs: [10.0.0.0/8, fd00::/8]\n";
  }

  private Map<String, Object> evidence() {
    try {
      String status = node.namespace().call(() -> Fetch.get(AGENT, "/api/status")).body();
      return ParsedJson.map(ParsedJson.map(ParsedJson.of(status)).get("evidence"));
    } catch (IOException silent) {
      throw new AssertionError(silent);
    }
  }

  private Map<String, Object> await(Duration time, Predicate<Map<String, Object>> wanted) {
    return Eventually.within(time, "evidence", this::evidence, wanted);
  }

  private static int number(Map<String, Object> fields, String name) {
    return Integer.parseInt(String.valueOf(fields.get(name)));
  }

  /** Ten flows a second from the pod, until closed. */
  private AutoCloseable trickle(String... destinations) {
    return trickle(Arrays.stream(destinations).map(Probe::udp).toArray(Probe[]::new));
  }

  private AutoCloseable trickle(Probe... probes) {
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .name("trickle")
            .start(
                () -> {
                  for (int i = 0; !Thread.currentThread().isInterrupted(); i++) {
                    lab.send(probes[i % probes.length]);
                    LockSupport.parkNanos(100_000_000);
                  }
                });
    return () -> {
      thread.interrupt();
      thread.join();
    };
  }

  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void aRuleThatNobodyCanReadIsFoundByWhatItDoes(String backend) throws Exception {
    node.volume().publish(config(backend));
    AgentProcess agent = node.running(LISTEN);
    // Nobody can tell from outside what a hash comes to.
    node.namespace()
        .nft(
            "table ip odd { chain post { type nat hook postrouting priority 90;"
                + " ip daddr 10.9.0.0/16 jhash ip saddr mod 1 0 snat to 192.0.2.10; }; }");
    try (AutoCloseable _ = trickle("10.9.9.9", "203.0.113.5", "10.8.8.8")) {
      assertEquals(Lab.NODE.v4(), lab.send(Probe.udp("10.9.9.9")).source());
      agent.awaitLine(
          line ->
              line.contains("WARN live flows go against the config: ")
                  && line.contains("e.g. 10.244.1.2 to 10.9.9.9 (udp 7777) left as 192.0.2.10"),
          Duration.ofSeconds(60));
      Result status = node.command("status");
      assertEquals(1, status.exit(), status.toString());
      assertTrue(
          status
              .stdout()
              .lines()
              .findFirst()
              .orElseThrow()
              .contains(
                  "says, but live flows went against it: 10.244.1.2 to 10.9.9.9 (udp 7777) left as"
                      + " 192.0.2.10 ("),
          status.toString());
      assertTrue(status.stdout().contains("went against the config, e.g. "), status.toString());
      String explained = node.command("explain", "10.9.9.9").ok();
      assertTrue(
          explained.matches(
              "(?s).*Live flows: \\d+ sampled to 10\\.0\\.0\\.0/8 .* against the config.*"),
          explained);
      Map<String, Object> evidence = evidence();
      int wrong = number(evidence, "wrong");
      assertTrue(wrong >= 2 && wrong < number(evidence, "sampled"), evidence.toString());
      String metrics = node.namespace().call(() -> Fetch.get(AGENT, "/metrics")).body();
      assertTrue(metrics.contains("flows_total{result=\"against_config\"} "), metrics);
      assertFalse(metrics.contains("flows_total{result=\"against_config\"} 0"), metrics);
      String ready = node.namespace().call(() -> Fetch.get(AGENT, "/readyz")).body();
      assertTrue(ready.startsWith("ready\n") && ready.contains("live flows went against"), ready);

      if (backend.equals("nftables")) {
        node.namespace().nft("delete", "table", "ip", "odd");
        agent.awaitLine(
            line -> line.contains("INFO live flows no longer go against the config"),
            Duration.ofSeconds(120));
        assertEquals(0, node.command("status").exit());
      }
    }
  }

  /**
   * Each port that one socket sends to is a flow of its own.
   *
   * @return the CPU time that it took, in nanoseconds: the kernel takes a packet all the way within
   *     the call that sends it
   */
  private static long burst(Namespace from, int first, int count, String... destinations)
      throws IOException {
    return from.<Long, IOException>call(
        () -> {
          try (DatagramSocket socket = new DatagramSocket()) {
            long start = cpu(THIS_THREAD);
            for (int i = 0; i < count; i++) {
              socket.send(
                  new DatagramPacket(
                      new byte[1],
                      1,
                      InetAddress.ofLiteral(destinations[i % destinations.length]),
                      1024 + (first + i) % 60_000));
            }
            return cpu(THIS_THREAD) - start;
          }
        });
  }

  /** Of a thread; the machine may have more to do. */
  private static long cpu(Path schedstat) throws IOException {
    return Long.parseLong(Files.readString(schedstat).split(" ")[0]);
  }

  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void nothingIsInvented(String backend) throws Exception {
    node.volume().publish(config(backend));
    Namespace second = lab.addPod(POD2, "fd00:244:2::2");
    AgentProcess agent = node.running(LISTEN);
    node.namespace()
        .nft(
            "table inet services { chain pre { type nat hook prerouting priority -100;"
                + " ip daddr 10.96.0.1 dnat ip to 203.0.113.7; };"
                + " chain post { type nat hook postrouting priority 100;"
                + " ct status dnat masquerade; }; }");
    int sent = 0;
    int step = Form.of(20, 250);
    while (sent < MANY || number(evidence(), "samples") < 2 || number(evidence(), "sampled") == 0) {
      burst(
          lab.pod(),
          sent,
          step,
          "10.9.9.9",
          "203.0.113.5",
          "10.96.0.1",
          "192.0.2.10",
          POD2,
          "2001:db8:ffff::7",
          "fd00:9::9",
          "255.0.0.1");
      burst(second, sent, step, "10.9.9.9", "203.0.113.5", Lab.POD.v4().getHostAddress());
      burst(node.namespace(), sent, step, "10.9.9.9", "203.0.113.5", POD2);
      sent += 3 * step;
      LockSupport.parkNanos(Duration.ofMillis(Form.of(50, 20)).toNanos());
    }
    Map<String, Object> evidence = evidence();
    assertEquals(0, number(evidence, "wrong"), evidence.toString());
    assertFalse(agent.stderr().stream().anyMatch(line -> line.contains("against")), "" + agent);
    long nanos = cpu(tasks(agent).get("evidence").resolve("schedstat"));
    System.out.printf(
        "%s: %d flows sent; %s; %d ms of CPU in %s samples%n",
        backend, sent, evidence.get("message"), nanos / 1_000_000, evidence.get("samples"));
  }

  @Test
  void whatComesInFromOutsideIsNoPods() throws Exception {
    node.volume().publish("backend: nftables\nnonMasqueradeCIDRs: [172.16.0.0/12]\n");
    // Otherwise the agent's own rule would masquerade what comes in for pods too.
    node.namespace()
        .nft(
            "table ip mine { chain post { type nat hook postrouting priority 90;"
                + " oifname pod0 snat to ip saddr; }; }");
    node.running(LISTEN);
    Probe inbound = Probe.udp(Lab.POD.v4()).from(lab.outside());
    try (AutoCloseable _ = trickle(inbound, Probe.udp("203.0.113.5"))) {
      Map<String, Object> seen = await(Duration.ofSeconds(30), e -> number(e, "sampled") > 0);
      assertEquals(0, number(seen, "wrong"), seen.toString());
    }
  }

  /** What it takes never leaves, so it has the pod's address. */
  @Test
  void whatATransparentProxyTakesIsNoEvidence() throws Exception {
    node.volume().publish(config("nftables"));
    node.namespace().ip("rule add fwmark 0x7 lookup 77", "route add local default dev lo table 77");
    node.namespace()
        .nft(
            "table ip proxy { chain pre { type filter hook prerouting priority mangle;"
                + " ip daddr 203.0.113.0/24 meta mark set 0x7; }; }");
    node.running(LISTEN);
    assertEquals(node.namespace(), lab.send(Probe.udp("203.0.113.5")).seen().where());
    try (AutoCloseable _ = trickle("203.0.113.5", "198.51.100.9")) {
      Map<String, Object> seen = await(Duration.ofSeconds(30), e -> number(e, "sampled") > 0);
      assertEquals(0, number(seen, "wrong"), seen.toString());
    }
  }

  @Test
  void flowsBetweenDamageAndRepairAreNoEvidence() throws Exception {
    node.volume().publish(config("iptables"));
    AgentProcess agent = node.running(LISTEN);
    // Without any rule that needs it, the kernel tracks no connections.
    node.namespace()
        .nft(
            "table ip any { chain forward { type filter hook forward priority 0;"
                + " ct state new accept; }; }");
    Eventually.eventually("a subscription", this::subscribed, it -> it);
    node.iptables(Family.IPV4, "-F IP-MASQ-AGENT");
    assertEquals(Lab.POD.v4(), lab.send(Probe.udp("203.0.113.5")).source());
    burst(lab.pod(), 0, 100, "203.0.113.5");
    agent.awaitLine(line -> line.contains("IPv4 rules changed (drift"));
    try (AutoCloseable _ = trickle("10.9.9.9", "203.0.113.5")) {
      Map<String, Object> seen = await(Duration.ofSeconds(90), e -> number(e, "sampled") > 1);
      assertEquals(0, number(seen, "wrong"), seen.toString());
      assertFalse(agent.stderr().stream().anyMatch(line -> line.contains("against")), "" + agent);
    }
  }

  /** Whether anybody on the node listens to conntrack's group 1: protocol 12, groups 00000001. */
  private boolean subscribed() {
    return node.namespace()
        .run("cat", "/proc/net/netlink")
        .ok()
        .lines()
        .map(line -> line.trim().split(" +"))
        .anyMatch(words -> words[1].equals("12") && words[3].equals("00000001"));
  }

  @Test
  void whoSwitchesItOffHasNoSubscription() throws Exception {
    node.volume().publish(config("nftables"));
    node.running(LISTEN, "--flow-samples=false");
    Map<String, Object> evidence = Eventually.eventually("an answer", this::evidence, _ -> true);
    assertEquals("not sampled: --flow-samples=false", evidence.get("note"));
    assertFalse(subscribed());
    assertTrue(node.command("status").ok().contains("Flows    not sampled: --flow-samples=false"));
  }

  /** Its threads by their names. */
  private static Map<String, Path> tasks(AgentProcess agent) throws IOException {
    Map<String, Path> tasks = new HashMap<>();
    try (DirectoryStream<Path> all =
        Files.newDirectoryStream(Path.of("/proc/" + agent.pid() + "/task"))) {
      for (Path task : all) {
        try {
          tasks.put(Files.readString(task.resolve("comm")).strip(), task);
        } catch (NoSuchFileException ended) {
          // Then it is none of those that are looked for.
        }
      }
    }
    return tasks;
  }

  @Test
  void theManifestsCapabilityIsEnough() throws Exception {
    node.volume().publish(config("nftables"));
    AgentProcess agent =
        node.startBy(List.of("setpriv", "--bounding-set", "-all,+net_admin"), LISTEN);
    Node.awaitFirstPass(agent);
    Eventually.eventually("the thread", () -> tasks(agent), tasks -> tasks.containsKey("evidence"));
    try (AutoCloseable _ = trickle("10.9.9.9", "203.0.113.5")) {
      Map<String, Object> seen = await(Duration.ofSeconds(60), e -> number(e, "sampled") > 1);
      assertEquals(0, number(seen, "wrong"), seen.toString());
    }
  }

  @Test
  void aKernelThatReportsNothingIsNamed() {
    node.volume().publish(config("nftables"));
    node.namespace().sysctl("netfilter/nf_conntrack_events=0");
    node.running(LISTEN);
    Map<String, Object> evidence =
        await(Duration.ofSeconds(60), e -> !"none sampled yet".equals(e.get("note")));
    assertEquals(
        "no evidence: the kernel reports no flows (sysctl net.netfilter.nf_conntrack_events=0)",
        evidence.get("note"));
    assertEquals(0, node.command("status").exit());
  }

  /** Printed, not asserted: what listening costs those who open flows. */
  @Test
  void whatListeningCosts() throws Exception {
    node.volume().publish(config("nftables"));
    node.commandWithConfig("apply").ok();
    long[] quiet = new long[Form.of(5, 31)];
    long[] heard = new long[quiet.length];
    burst(lab.pod(), 0, 10 * FLOWS, "203.0.113.1"); // for the compiler
    for (int round = 0; round < quiet.length; round++) {
      quiet[round] = timed("203.0.113." + (2 + round));
      try (Events<Flow> _ = lab.node().call(() -> Conntrack.began(FLOWS))) {
        heard[round] = timed("203.0.113." + (100 + round));
      }
    }
    Arrays.sort(quiet);
    Arrays.sort(heard);
    long alone = quiet[quiet.length / 2] / FLOWS;
    long listened = heard[quiet.length / 2] / FLOWS;
    System.out.printf(
        "a new flow: %d ns of CPU, %d ns while somebody listens (%+d %%), medians of %d%n",
        alone, listened, 100 * (listened - alone) / alone, quiet.length);
  }

  private long timed(String destination) throws IOException {
    return burst(lab.pod(), 0, FLOWS, destination);
  }
}
