package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.config.ParsedJson;
import ipmasq.http.Fetch;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.Flow;
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
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What live traffic says before, during and after a change: docs/live-traffic.md, with packets. */
@KernelTest
@Timeout(300)
class LiveTrafficTest {
  private static final InetSocketAddress AGENT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 10349);
  private static final String LISTEN = "--listen=127.0.0.1:10349";

  /** How long a connection that nobody answers is kept. */
  private static final int KEPT = 64;

  @TempDir private Path state;
  private Lab lab;
  private Node node;
  private Namespace second;
  private @Nullable Object lastTable;

  @BeforeEach
  void open() {
    lab = Lab.open();
    node = Node.in(lab.node());
    second = lab.addPod("10.244.2.2", "fd00:244:2::2");
  }

  @AfterEach
  void close() {
    node.close();
    lab.close();
  }

  /** Whether the page prints this line, whatever the numbers. */
  private static void onThePage(String line) throws IOException {
    Path page = Path.of(System.getProperty("ipmasq.project"), "docs", "live-traffic.md");
    String numbers = "\\d+";
    String masked = line.strip().replaceAll(numbers, "N");
    assertTrue(
        Files.readAllLines(page).stream()
            .map(each -> each.strip().replaceAll(numbers, "N"))
            .anyMatch(each -> each.length() > 20 && masked.contains(each)),
        line);
  }

  private static String config(String backend, String... exempt) {
    return "backend: "
        + backend
        + "\nenableIPv6: true\nnonMasqueradeCIDRs: ["
        + String.join(", ", exempt)
        + "]\n";
  }

  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void aPlanNamesTheFlowsThatWouldLeaveOtherwise(String backend) throws Exception {
    node.volume().publish(config(backend, "10.0.0.0/8"));
    node.running();
    node.namespace()
        .nft(
            "table ip services { chain pre { type nat hook prerouting priority -100;"
                + " ip daddr 10.96.0.1 dnat to 203.0.113.7; }; }");
    List<Flow> flows = new ArrayList<>();
    for (String to :
        List.of(
            "203.0.113.5",
            "10.96.0.1",
            "198.51.100.9",
            "10.9.9.9",
            "2001:db8:ffff::7",
            "2001:db8:fffe::7")) {
      Flow flow = lab.flow(Probe.udp(to));
      flow.send().seen();
      flows.add(flow);
    }
    Flow other = lab.flow(Probe.udp("203.0.113.5").from(second));
    other.send().seen();
    flows.add(other);
    Path candidate = state.resolve("candidate");
    Files.writeString(
        candidate, config(backend, "10.0.0.0/8", "203.0.113.0/24", "2001:db8:ffff::/48"));
    Result text = node.command("plan", "--flows", "--config=" + candidate);
    assertEquals(2, text.exit(), text.toString());
    assertTrue(
        text.stdout()
            .contains("203.0.113.0/24: 3 flows of 2 pods, now masqueraded, then the pod's address"),
        text.toString());
    onThePage(
        text.stdout().lines().filter(l -> l.contains("3 flows of 2")).findFirst().orElseThrow());
    assertTrue(text.stdout().contains("      10.244.1.2 to 203.0.113.5 (udp 7777)"), "" + text);
    Result json = node.command("plan", "--flows", "--output=json", "--config=" + candidate);
    Map<String, Object> answer =
        ParsedJson.map(ParsedJson.map(ParsedJson.of(json.stdout())).get("flows"));
    assertEquals("4", "" + answer.get("changed"), json.toString());
    List<?> ranges = (List<?>) answer.get("ranges");
    assertEquals(2, ranges.size(), json.toString());
    Map<String, Object> v6 = ParsedJson.map(ranges.get(1));
    assertEquals("2001:db8:ffff::/48", v6.get("range"), json.toString());
    assertEquals("masqueraded", v6.get("now"));
    assertEquals("kept", v6.get("then"));
    // In force, they are older than the rules; what began since then is not.
    flows.forEach(Flow::close);
    String same = node.commandWithConfig("plan", "--flows").ok();
    assertTrue(same.contains("0 of "), same);
  }

  /** Connections from two pods to each of these, again and again until closed. */
  private AutoCloseable connections(String... destinations) {
    List<Thread> threads = new ArrayList<>();
    AtomicBoolean over = new AtomicBoolean();
    for (Namespace pod : List.of(lab.pod(), second)) {
      threads.add(
          Thread.ofPlatform()
              .daemon()
              .name("connections")
              .start(() -> connect(pod, over, destinations)));
    }
    return () -> {
      over.set(true);
      for (Thread thread : threads) {
        thread.join();
      }
    };
  }

  private static void connect(Namespace pod, AtomicBoolean over, String... destinations) {
    try {
      pod.<Void, IOException>call(
          () -> {
            Deque<SocketChannel> open = new ArrayDeque<>();
            for (int i = 0; !over.get(); i++) {
              SocketChannel channel = SocketChannel.open();
              channel.configureBlocking(false);
              InetAddress to = InetAddress.ofLiteral(destinations[i % destinations.length]);
              channel.connect(new InetSocketAddress(to, 7777));
              open.add(channel);
              if (open.size() > KEPT) {
                open.removeFirst().close();
              }
              LockSupport.parkNanos(Duration.ofMillis(40).toNanos());
            }
            for (SocketChannel each : open) {
              each.close();
            }
            return null;
          });
    } catch (IOException closed) {
      throw new AssertionError(closed);
    }
  }

  private Map<String, Object> evidence() {
    try {
      String status = node.namespace().call(() -> Fetch.get(AGENT, "/api/status")).body();
      return ParsedJson.map(ParsedJson.map(ParsedJson.of(status)).get("evidence"));
    } catch (IOException silent) {
      throw new AssertionError(silent);
    }
  }

  private String ready() throws IOException {
    return node.namespace().call(() -> Fetch.get(AGENT, "/readyz")).body();
  }

  /** How many flows were judged by whether they were answered. */
  private int sampled() {
    return ((List<?>) evidence().get("answers"))
        .stream()
            .mapToInt(range -> Integer.parseInt("" + ParsedJson.map(range).get("flows")))
            .sum();
  }

  private static final String[] BOTH = {
    "203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4",
    "198.51.100.1", "198.51.100.2", "198.51.100.3", "198.51.100.4"
  };

  private AgentProcess sampling(String config) {
    node.volume().publish(config);
    AgentProcess agent = node.running(LISTEN, "--state-dir=" + state);
    Eventually.within(Duration.ofSeconds(150), "figures", this::sampled, flows -> flows >= 60);
    return agent;
  }

  /** Pods' addresses have no way back from outside, as behind a firewall that drops them. */
  @Tag("live")
  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void answersThatStopAreReported(String backend) throws Exception {
    try (AutoCloseable _ = connections(BOTH)) {
      lab.outside().ip("route add blackhole 10.244.0.0/16 table main");
      AgentProcess agent = sampling(config(backend, "10.0.0.0/8"));
      node.volume().publish(config(backend, "10.0.0.0/8", "203.0.113.0/24"));
      String line =
          agent.awaitLine(l -> l.contains("WARN since the change "), Duration.ofSeconds(40));
      assertTrue(
          line.matches(
              ".*since the change 0 of \\d+ tcp flows to 203\\.0\\.113\\.0/24 were answered,"
                  + " before (\\d+) of \\1"),
          line);
      onThePage(line);
      Result status = node.command("status");
      assertEquals(1, status.exit(), status.toString());
      assertTrue(status.stdout().contains("Answers  since the change 0 of "), status.toString());
      String metrics = node.namespace().call(() -> Fetch.get(AGENT, "/metrics")).body();
      assertTrue(metrics.contains("ip_masq_agent_silent_ranges 1"), metrics);
      assertTrue(ready().startsWith("ready"), ready());
      Eventually.within(
          Duration.ofSeconds(150),
          "flows older than the rules",
          () -> node.command("status").stdout(),
          text -> text.contains(" flows keep the source that they got before the change"));
    }
  }

  @Tag("live")
  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void aConfigThatCutsPodsOffIsRolledBack(String backend) throws Exception {
    String good = config(backend, "10.0.0.0/8") + "probation: 5m\n";
    String bad = config(backend, "10.0.0.0/8", "203.0.113.0/24") + "probation: 5m\n";
    try (AutoCloseable _ = connections(BOTH)) {
      lab.outside().ip("route add blackhole 10.244.0.0/16 table main");
      AgentProcess agent = sampling(good);
      node.volume().publish(bad);
      onThePage(agent.awaitLine(l -> l.contains("the new config is on probation until")));
      assertEquals(Lab.POD.v4(), lab.send(Probe.udp("203.0.113.77")).source());
      onThePage(
          agent.awaitLine(
              l -> l.contains("ERROR the new config is rolled back: since the change 0 of "),
              Duration.ofSeconds(60)));
      Eventually.eventually(
          "the node's source",
          () -> lab.send(Probe.udp("203.0.113.78")).source(),
          Lab.NODE.v4()::equals);
      Eventually.eventually(
          "the reason",
          this::ready,
          ready ->
              ready.contains("not ready: the config file was rolled back")
                  && ready.contains("rolled back: since the change 0 of ")
                  && ready.contains("203.0.113.0/24"));
      onThePage(
          agent.awaitLine(
              l -> l.contains("answers returned with the config before"), Duration.ofSeconds(60)));
      // Another process comes to the same conclusion, without trying again.
      agent.terminate();
      agent.awaitExit();
      AgentProcess next = node.start(LISTEN, "--state-dir=" + state);
      next.awaitLine(l -> l.contains("rolled back: since the change 0 of "), Node.PATIENCE);
      assertEquals(Lab.NODE.v4(), lab.send(Probe.udp("203.0.113.79")).source());
      // Until the file changes.
      node.volume().publish(bad + "# again\n");
      next.awaitLine(l -> l.contains("the new config is on probation until"));
    }
  }

  /** The last good config comes before what the kernel holds and the defaults. */
  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void aBadFileAtTheStartLeavesTheLastGoodConfigInForce(String backend) {
    node.volume().publish(config(backend, "203.0.113.0/24"));
    AgentProcess first = node.running("--state-dir=" + state, "--cleanup-on-exit");
    first.terminate();
    first.awaitExit();
    node.volume().publish("nonMasqueradeCIDRs: [203.0.113.0/33]\n");
    AgentProcess agent = node.running("--state-dir=" + state);
    assertEquals(Lab.POD.v4(), lab.send(Probe.udp("203.0.113.5")).source());
    assertEquals(Lab.NODE.v4(), lab.send(Probe.udp("10.9.9.9")).source());
    agent.awaitLine(l -> l.contains("the last good one stays in force"));
  }

  /** What is down for everybody is not the config's fault. */
  @Tag("live")
  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void anOutsideThatIsDownRollsNothingBack(String backend) throws Exception {
    try (AutoCloseable _ = connections(BOTH)) {
      AgentProcess agent = sampling(config(backend, "10.0.0.0/8") + "probation: 1m\n");
      lab.outside()
          .nft(
              "table inet down { chain out { type filter hook output priority 0; policy drop; }; }");
      node.volume().publish(config(backend, "10.0.0.0/8", "203.0.113.0/24") + "probation: 1m\n");
      agent.awaitLine(l -> l.contains("WARN since the change 0 of "), Duration.ofSeconds(40));
      agent.awaitLine(l -> l.contains("passed its probation"), Duration.ofSeconds(90));
      assertFalse(agent.stderr().stream().anyMatch(l -> l.contains("rolled back")), "" + agent);
      assertEquals(Lab.POD.v4(), lab.send(Probe.udp("203.0.113.77")).source());
    }
  }

  /** Datagrams that nobody ever answered say nothing when nobody answers them. */
  @Tag("live")
  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void oneWayTrafficNeverAlarms(String backend) throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    Thread datagrams =
        Thread.ofPlatform()
            .daemon()
            .name("datagrams")
            .start(
                () -> {
                  for (int i = 0; !over.get(); i++) {
                    lab.send(
                        Probe.udp("203.0.113." + (1 + i % 8))
                            .from(i / 8 % 2 == 0 ? lab.pod() : second),
                        Duration.ofMillis(50));
                    LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
                  }
                });
    try {
      AgentProcess agent = sampling(config(backend, "10.0.0.0/8"));
      node.volume().publish(config(backend, "10.0.0.0/8", "203.0.113.0/24"));
      Eventually.within(
          Duration.ofSeconds(60),
          "figures of the changed range",
          () -> String.valueOf(evidence().get("changed")),
          changed -> changed.contains("203.0.113.0/24") && sampled() >= 40);
      assertFalse(agent.stderr().stream().anyMatch(l -> l.contains("since the change")), "");
      assertEquals(0, node.command("status").exit());
    } finally {
      over.set(true);
      datagrams.join();
    }
  }

  /** 250,000 flows of two pods: the time that reading them takes is printed, not asserted. */
  @Tag("live")
  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void aFullTableIsReadAsAStream(String backend) throws Exception {
    node.namespace().sysctl("netfilter/nf_conntrack_udp_timeout=600");
    node.volume().publish(config(backend, "10.0.0.0/8"));
    long quiet = peakOfAnAgent();
    int flows = 250_000;
    for (Namespace pod : List.of(lab.pod(), second)) {
      pod.<Void, IOException>call(
          () -> {
            byte[] one = new byte[1];
            try (DatagramSocket socket = new DatagramSocket()) {
              for (int i = 0; i < flows / 2; i++) {
                InetAddress to =
                    InetAddress.ofLiteral("203.0." + (112 + i / 60_000) + "." + i % 200);
                socket.send(new DatagramPacket(one, 1, to, 1024 + i % 60_000));
              }
            }
            return null;
          });
    }
    Path candidate = state.resolve("candidate");
    Files.writeString(candidate, config(backend, "10.0.0.0/8", "203.0.113.0/24"));
    Map<String, Object> planned =
        ParsedJson.map(
            ParsedJson.map(
                    ParsedJson.of(
                        node.command("plan", "--flows", "--output=json", "--config=" + candidate)
                            .stdout()))
                .get("flows"));
    assertTrue(number(planned, "total") > flows * 0.95, planned.toString());
    assertEquals("120000", "" + planned.get("changed"), planned.toString());
    long full = peakOfAnAgent();
    System.out.printf(
        "%s: plan --flows of %s flows: %s s of CPU; the running agent: %s, peak memory of the agent"
            + " %d kB, without flows %d kB%n",
        backend, planned.get("tableSize"), planned.get("cpuSeconds"), lastTable, full, quiet);
    assertTrue(full - quiet < 10 * 1024, "more memory: " + (full - quiet) + " kB");
  }

  private static int number(Map<String, Object> fields, String name) {
    return Integer.parseInt(String.valueOf(fields.get(name)));
  }

  /** Of one that has just looked at the table, in kB. */
  private long peakOfAnAgent() throws IOException {
    AgentProcess agent = node.start(LISTEN);
    agent.awaitLine(line -> line.contains("listening on "), Node.PATIENCE);
    Eventually.within(
        Duration.ofSeconds(60),
        "a sample",
        () -> number(evidence(), "samples"),
        samples -> samples > 0);
    long peak =
        Files.readAllLines(Path.of("/proc/" + agent.pid() + "/status")).stream()
            .filter(line -> line.startsWith("VmHWM:"))
            .map(line -> line.replaceAll("\\D", ""))
            .mapToLong(Long::parseLong)
            .sum();
    lastTable = evidence().get("table");
    agent.terminate();
    agent.awaitExit();
    return peak;
  }

  /** Ports of 200 run out towards one destination; it is known before the first flow is lost. */
  @Tag("live")
  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void portsThatRunOutAreKnownBefore(String backend) throws Exception {
    node.volume()
        .publish(
            config(backend, "10.0.0.0/8").replace("enableIPv6: true\n", "")
                + "toPorts: 40000-40199\n");
    node.running(LISTEN);
    List<Flow> flows = new ArrayList<>();
    for (int i = 0; i < 170; i++) {
      Flow flow = lab.flow(Probe.udp("203.0.113.5"));
      flow.send().seen();
      flows.add(flow);
    }
    String metrics =
        Eventually.within(
            Duration.ofSeconds(150),
            "the ports in use",
            () -> node.namespace().call(() -> Fetch.get(AGENT, "/metrics")).body(),
            text -> text.contains("ip_masq_agent_ports_used_ratio{"));
    assertTrue(
        metrics.matches(
            "(?s).*ports_used_ratio\\{address=\"192.0.2.10\",protocol=\"udp\","
                + "destination=\"203.0.113.5\",port=\"7777\"} 0\\.8.*"),
        metrics);
    Result ports = node.commandWithConfig("status", "--ports");
    assertTrue(
        ports
            .stdout()
            .contains("192.0.2.10 to 203.0.113.5 (udp 7777): 170 of 200 ports in use (85 %)"),
        ports.toString());
    onThePage(ports.stdout().lines().findFirst().orElseThrow());
    for (int i = 0; i < 20; i++) {
      Flow flow = lab.flow(Probe.udp("203.0.113.5"));
      flow.send().seen();
      flows.add(flow);
    }
    flows.forEach(Flow::close);
  }
}
