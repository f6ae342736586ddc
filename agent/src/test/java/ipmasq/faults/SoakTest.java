package ipmasq.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.e2e.Node;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.KernelTest;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A long life in a short time: config after config, with scrapes in between. In the end everything
 * is as it was at the beginning: memory, descriptors, threads, processes, objects in the kernel.
 */
@KernelTest
@Tag("soak")
@Execution(ExecutionMode.CONCURRENT)
class SoakTest {
  private static final int CHANGES = Integer.getInteger("ipmasq.soak.changes", 60);
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** What a process holds. */
  private record Usage(long rssKib, long descriptors, long threads, int children) {
    static Usage of(AgentProcess agent, Node node) throws IOException {
      Path proc = Path.of("/proc", String.valueOf(agent.pid()));
      long rss = 0;
      long threads = 0;
      for (String line : Files.readAllLines(proc.resolve("status"))) {
        rss = line.startsWith("VmRSS:") ? number(line) : rss;
        threads = line.startsWith("Threads:") ? number(line) : threads;
      }
      try (Stream<Path> open = Files.list(proc.resolve("fd"))) {
        return new Usage(
            rss, open.count(), threads, new Pids(node.namespace().name()).all().size());
      }
    }

    private static long number(String line) {
      return Long.parseLong(line.replaceAll("\\D", ""));
    }
  }

  private static String config(Random random, int changes) {
    int ranges = random.nextInt(10) == 0 ? 2000 : random.nextInt(60);
    String list =
        IntStream.range(0, ranges)
            .mapToObj(i -> "\"" + 44 + "." + random.nextInt(200) + "." + i % 250 + ".0/24\"")
            .distinct()
            .collect(Collectors.joining(","));
    String exceptions = random.nextInt(4) == 0 ? "masqueradeCIDRs: [10.1.2.0/24]\n" : "";
    String sources = random.nextInt(4) == 0 ? "sourceCIDRs: [10.0.0.0/8]\n" : "";
    String ports = random.nextInt(4) == 0 ? "toPorts: 1024-29999,32768-65535\n" : "";
    String broken = random.nextInt(12) == 0 ? "resyncInterval: 60\n" : "";
    return "# "
        + changes
        + "\ncidrLimit: 5000\nenableIPv6: "
        + random.nextBoolean()
        + "\n"
        + exceptions
        + sources
        + ports
        + broken
        + "nonMasqueradeCIDRs: ["
        + list
        + "]\n";
  }

  @ParameterizedTest
  @ValueSource(strings = {"iptables", "nftables"})
  void nothingGrows(String backend) throws IOException {
    Random random = new Random(7);
    try (Node node = Node.open()) {
      node.volume().publish(World.OLD.file());
      AgentProcess agent = node.running("--backend=" + backend, "--listen=127.0.0.1:9999", "--v=2");
      agent.awaitLine(line -> line.contains("listening on"));
      State first = State.of(node);
      churn(agent, node, random, CHANGES / 3); // caches fill, code is compiled
      rest(node, backend, first);
      Usage before = Usage.of(agent, node);
      churn(agent, node, random, CHANGES);
      rest(node, backend, first);
      Usage after = Usage.of(agent, node);
      System.out.println(
          "soak, " + CHANGES + " changes, " + backend + ": " + before + " → " + after);
      // A sample of flows has one open for a second.
      Eventually.within(
          PATIENCE,
          "descriptors",
          () -> Usage.of(agent, node).descriptors,
          now -> now <= before.descriptors);
      assertEquals(1, after.children);
      assertTrue(after.threads <= before.threads + 1, after::toString);
      // A heap that grows at all would have filled in thousands of changes.
      assertTrue(after.rssKib < before.rssKib + 24 * 1024, before + " → " + after);
      assertTrue(agent.running());
    }
  }

  private static void churn(AgentProcess agent, Node node, Random random, int changes)
      throws IOException {
    for (int i = 1; i <= changes; i++) {
      int lines = agent.stderr().size();
      node.volume().publish(config(random, i));
      // Each is taken notice of: in a heap of them only the last would be.
      Eventually.within(PATIENCE, "a pass", () -> agent.stderr().size(), n -> n > lines);
      if (i % 5 == 0) {
        scrape(node, i % 2 == 0 ? "/metrics" : "/status");
      }
      if (i % 20 == 0) {
        node.namespace().run("iptables", "-t", "nat", "-F", "IP-MASQ-AGENT");
      }
    }
  }

  /** Back to the first config: what the kernel holds is what it held, and nothing else. */
  private static void rest(Node node, String backend, State first) {
    node.volume().publish(World.OLD.file());
    Eventually.within(PATIENCE, "the first rules again", () -> State.of(node), first::equals);
    Eventually.within(
        PATIENCE,
        "the agent alone",
        () -> new Pids(node.namespace().name()).all(),
        pids -> pids.size() == 1);
    List<String> tables =
        node.namespace().nft("list", "tables").lines().filter(l -> l.contains("masq")).toList();
    assertEquals(backend.equals("nftables") ? 1 : 0, tables.size(), tables::toString);
    String all = node.namespace().nft("-s", "list", "ruleset");
    for (String left : List.of("sources4", "sources6", "IP-MASQ-AGENT-OUT")) {
      assertTrue(!all.contains(left), () -> left + " is left over:\n" + all);
    }
  }

  private static void scrape(Node node, String path) throws IOException {
    try (SocketChannel client = node.namespace().call(SocketChannel::open)) {
      client.connect(new InetSocketAddress("127.0.0.1", 9999));
      String request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
      client.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
      ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
      while (client.read(buffer.clear()) >= 0) {
        // To its end.
      }
    }
  }
}
