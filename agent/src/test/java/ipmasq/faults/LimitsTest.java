package ipmasq.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.e2e.Expected;
import ipmasq.e2e.Node;
import ipmasq.http.Fetch;
import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.FakePrograms;
import ipmasq.testkit.FakePrograms.Behaviour;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Probe;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Memory and file descriptors that end. */
@KernelTest
@Tag("fault")
@Execution(ExecutionMode.CONCURRENT)
class LimitsTest {
  private static final int MANY = 100_000;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** So many ranges, the last of which is 20.…: what lies between them is masqueraded. */
  private static String ranges(int count) {
    StringBuilder text = new StringBuilder("cidrLimit: 1000000\nnonMasqueradeCIDRs:\n");
    for (int i = 0; i < count; i++) {
      int address = (20 << 24) + i * 512;
      text.append("- ").append(address >>> 24).append('.').append(address >> 16 & 255);
      text.append('.').append(address >> 8 & 255).append(".0/24\n");
    }
    return text.toString();
  }

  private static String last(int count) {
    int address = (20 << 24) + (count - 1) * 512;
    return (address >>> 24) + "." + (address >> 16 & 255) + "." + (address >> 8 & 255) + ".7";
  }

  @Test
  void theManifestsMemoryHoldsManyRangesInASet() throws IOException {
    try (MemoryLimit limit = MemoryLimit.ofManifest();
        Lab lab = Lab.open();
        Node node = Node.in(lab.node())) {
      node.volume().publish(ranges(MANY));
      AgentProcess agent = node.startBy(limit.entering(), "--backend=nftables");
      agent.awaitLine(line -> line.contains("rules changed (start"), PATIENCE);
      assertEquals(Lab.POD.v4(), lab.send(Probe.udp(last(MANY))).source());
      assertEquals(Lab.NODE.v4(), lab.send(Probe.udp("8.8.8.8")).source());
      node.volume().publish("");
      agent.awaitLine(line -> line.contains("rules changed (config"), PATIENCE);
      assertEquals(Lab.NODE.v4(), lab.send(Probe.udp(last(MANY))).source());
      assertEquals(0, limit.kills());
    }
  }

  /** So large that one range more would be refused, changed, and read by a command meanwhile. */
  @Test
  void aFileAtTheCapLoadsBesideADiagnosticCommand() throws IOException {
    try (MemoryLimit limit = MemoryLimit.ofManifest();
        Node node = Node.open()) {
      node.volume().publish("enableIPv6: true\nnonMasqueradeCIDRs:\n" + longest(0));
      AgentProcess agent = node.startBy(limit.entering(), "--backend=nftables");
      agent.awaitLine(line -> line.contains("IPv6 rules changed (start"), PATIENCE);
      node.volume().publish("enableIPv6: true\nnonMasqueradeCIDRs:\n" + longest(1));
      List<String> status = new ArrayList<>(limit.entering());
      status.addAll(
          List.of(
              AgentProcess.builtAgent().toString(),
              "config",
              "--backend=nftables",
              "--config=" + node.volume().file()));
      assertEquals(0, node.namespace().runWithin(PATIENCE, status.toArray(String[]::new)).exit());
      agent.awaitLine(line -> line.contains("IPv6 rules changed (config"), PATIENCE);
      assertEquals(0, limit.kills());
      assertTrue(agent.running(), agent::toString);
    }
  }

  /** As many ranges as are promised, each as long as a range can be. */
  private static String longest(int last) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < MANY; i++) {
      int number = i == MANY - 1 ? i + last : i;
      text.append(
          "- \"2001:0db8:85a3:1000:1000:8a2e:%04x:%04x/128\"\n"
              .formatted(number >> 16, number & 0xffff));
    }
    return text.toString();
  }

  @Test
  void moreThanTheHeapHoldsIsABadFile() {
    try (Node node = Node.open()) {
      node.environment("_JAVA_OPTIONS", "-Xmx12m");
      node.volume().publish("nonMasqueradeCIDRs: [10.9.0.0/16]\n");
      AgentProcess agent = node.running("--resync-interval=1");
      List<String> before = node.rules(Family.IPV4);
      node.volume().publish(ranges(MANY));
      agent.awaitLine(line -> line.contains("too large for the agent"), PATIENCE);
      agent.awaitLine(line -> line.contains("the last good one stays in force"), PATIENCE);
      // It goes on healing what is in force.
      node.iptables(Family.IPV4, "-F " + Expected.CHAIN);
      node.awaitRules(Family.IPV4, before);
      assertTrue(agent.running());
      node.volume().publish("");
      node.awaitRules(Family.IPV4, Expected.DEFAULTS);
    }
  }

  /** Whatever thread looks at them finds a bound before the end of the memory. */
  @Test
  void veryManyRulesOfOthersEndNothing() {
    String rules =
        IntStream.range(0, 30_000)
            .mapToObj(i -> "ip daddr 20." + i / 256 % 256 + "." + i % 256 + ".0/24 counter return")
            .map(rule -> rule + " comment \"" + "a comment ".repeat(12) + "\"\n")
            .collect(Collectors.joining());
    try (Node node = Node.open()) {
      node.namespace()
          .feed(
              "table ip mine {\nchain post {\ntype nat hook postrouting priority 90;\n"
                  + rules
                  + "}\n}\n",
              "nft",
              "-f",
              "-")
          .ok();
      node.environment("_JAVA_OPTIONS", "-Xmx12m");
      AgentProcess agent = node.running("--listen=127.0.0.1:9999");
      agent.awaitLine(line -> line.contains("listening on"));
      agent.awaitLine(line -> line.contains("whether it does cannot be told from here"));
      for (int i = 0; i < 5; i++) {
        node.iptables(Family.IPV4, "-F " + Expected.CHAIN); // to be looked at again
        node.awaitRules(Family.IPV4, Expected.DEFAULTS);
        node.environment("_JAVA_OPTIONS", "-Xmx64m");
        node.commandWithConfig("status"); // asks the agent for all that it knows
      }
      assertTrue(agent.running());
      List<String> said = agent.stderr();
      assertTrue(said.stream().skip(1).allMatch(line -> line.startsWith("20")), agent::toString);
    }
  }

  @Test
  void tooLargeAtTheStartMeansWhatAnEarlierRunLeft() {
    try (Node node = Node.open()) {
      node.volume().publish("nonMasqueradeCIDRs: [10.9.0.0/16]\n");
      node.commandWithConfig("apply").ok();
      List<String> before = node.rules(Family.IPV4);
      node.environment("_JAVA_OPTIONS", "-Xmx12m");
      node.volume().publish(ranges(MANY));
      AgentProcess agent = node.start("--resync-interval=1");
      agent.awaitLine(line -> line.contains("rules that an earlier run left are kept"), PATIENCE);
      node.iptables(Family.IPV4, "-F " + Expected.CHAIN);
      node.awaitRules(Family.IPV4, before);
      assertTrue(agent.running());
    }
  }

  /** The kernel ends the child, not the agent, which says so and keeps the old rules. */
  @Test
  void moreThanTheMemoryThatAChildGets() throws IOException {
    // The manifest's limit in the long form; less of both does the same sooner.
    int count = Form.of(30_000, MANY);
    try (MemoryLimit limit = Form.isLong() ? MemoryLimit.ofManifest() : MemoryLimit.of(80 << 20);
        Node node = Node.open()) {
      if (!Form.isLong()) {
        node.environment("_JAVA_OPTIONS", "-Xmx32m");
      }
      AgentProcess agent = node.startBy(limit.entering(), "--resync-interval=2");
      Node.awaitFirstPass(agent);
      node.volume().publish(ranges(count));
      agent.awaitLine(
          line -> line.contains("status 137") || line.contains("rules changed (config"), PATIENCE);
      assertTrue(agent.running());
      node.volume().publish("");
      node.awaitRules(Family.IPV4, Expected.DEFAULTS);
      assertTrue(agent.running(), agent::toString);
    }
  }

  @Test
  void aProgramThatNeverStopsTalkingIsStopped() {
    try (Node node = Node.open()) {
      FakePrograms programs = node.fakePrograms();
      node.environment("JDK_JAVA_OPTIONS", "-Dipmasq.iptables.deadline=2");
      AgentProcess agent = node.running("--resync-interval=1");
      for (Behaviour behaviour :
          List.of(new Behaviour.Babble("a line\n"), new Behaviour.Babble("no line"))) {
        int told = agent.stderr().size();
        programs.set("iptables", behaviour);
        node.iptables(Family.IPV4, "-F " + Expected.CHAIN); // something to look at
        agent.awaitLine(
            line ->
                agent.stderr().lastIndexOf(line) >= told && line.contains("did not end within 2 s"),
            PATIENCE);
        programs.set("iptables", new Behaviour.Real());
        node.awaitRules(Family.IPV4, Expected.DEFAULTS);
      }
    }
  }

  @Test
  void withoutFreeDescriptorsItWaitsAndSaysSo() throws Exception {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running("--resync-interval=1", "--listen=127.0.0.1:9999", "--v=2");
      agent.awaitLine(line -> line.contains("listening on"));
      agent.awaitLine(line -> line.contains("found everything in place"));
      takeDescriptors(node, agent);
      // Clients that cannot be let in do not make it spin.
      List<SocketChannel> clients = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        SocketChannel client = node.namespace().call(SocketChannel::open);
        client.connect(new InetSocketAddress("127.0.0.1", 9999));
        clients.add(client);
      }
      long before = cpuTicks(agent);
      LockSupport.parkNanos(1_000_000_000); // a second in which next to nothing must happen
      long ticks = cpuTicks(agent) - before;
      assertTrue(ticks < 60, "CPU ticks of 10 ms: " + ticks);
      assertTrue(agent.stderr().stream().allMatch(line -> line.startsWith("20")), agent::toString);
      // What Java closes of its own then would be a socket of ours the next time.
      assertTrue(Files.exists(Path.of("/proc/" + agent.pid() + "/fd/0")));
      limit(node, agent, 256);
      node.awaitRules(Family.IPV4, Expected.DEFAULTS);
      for (SocketChannel client : clients) {
        client.close();
      }
      assertTrue(agent.running());
    }
  }

  /** A pod's pids limit, for example: clients that hold connections get no thread more. */
  @Test
  void withoutFurtherThreadsProbesAreAnswered() throws Exception {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running("--listen=127.0.0.1:9999");
      agent.awaitLine(line -> line.contains("listening on"));
      List<SocketChannel> silent = new ArrayList<>();
      try (PidsLimit _ = PidsLimit.of(agent.pid())) {
        for (int i = 0; i < 30; i++) {
          SocketChannel client = node.namespace().call(SocketChannel::open);
          client.connect(new InetSocketAddress("127.0.0.1", 9999));
          silent.add(client);
        }
        InetSocketAddress where = new InetSocketAddress("127.0.0.1", 9999);
        assertEquals(200, node.namespace().call(() -> Fetch.get(where, "/healthz")).status());
        assertTrue(agent.running());
        agent.kill();
      } finally {
        for (SocketChannel client : silent) {
          client.close();
        }
      }
    }
  }

  /** Leaves it none but those that it holds all the time: a pass has more for a moment. */
  private static void takeDescriptors(Node node, AgentProcess agent) throws IOException {
    AtomicLong least = new AtomicLong(Long.MAX_VALUE);
    Eventually.within(
        PATIENCE,
        "no descriptor left",
        () -> {
          limit(node, agent, least.accumulateAndGet(firstFree(agent), Math::min));
          node.iptables(Family.IPV4, "-F " + Expected.CHAIN); // something to mend
          return agent.stderr();
        },
        lines -> lines.stream().anyMatch(line -> line.contains("Too many open files")));
  }

  private static long firstFree(AgentProcess agent) throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/" + agent.pid() + "/fd"))) {
      Set<String> taken = open.map(fd -> fd.getFileName().toString()).collect(Collectors.toSet());
      return LongStream.iterate(0, fd -> fd + 1)
          .filter(fd -> !taken.contains(String.valueOf(fd)))
          .findFirst()
          .orElseThrow();
    }
  }

  private static void limit(Node node, AgentProcess agent, long count) {
    node.namespace()
        .run("prlimit", "--pid", String.valueOf(agent.pid()), "--nofile=" + count + ":")
        .ok();
  }

  private static long cpuTicks(AgentProcess agent) throws IOException {
    String stat = Files.readString(Path.of("/proc/" + agent.pid() + "/stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
  }
}
