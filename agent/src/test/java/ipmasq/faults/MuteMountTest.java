package ipmasq.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ipmasq.e2e.Expected;
import ipmasq.e2e.Node;
import ipmasq.http.Fetch;
import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.FakePrograms;
import ipmasq.testkit.KernelTest;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A mount that does not answer, over the config's directory: a FUSE file system whose program reads
 * no request. Every call waits for it, as it would for a file server that is gone.
 */
@KernelTest
@Tag("fault")
@Execution(ExecutionMode.CONCURRENT)
class MuteMountTest {
  private static final Duration AT_ONCE = Duration.ofSeconds(5);
  private static final List<String> RULES = Expected.rules(Expected.LINK_LOCAL, "10.9.0.0/16");

  /** Ends with its input; then the kernel gives up whatever waits. */
  private static final String MUTE =
      """
      exec 3<> /dev/fuse
      mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 mute "$0" || exit
      echo mounted
      cat
      umount -l "$0"
      """;

  @Test
  void itHealsMeanwhileAndReadsTheFileWhenItAnswers() throws IOException, InterruptedException {
    try (Node node = Node.open()) {
      AgentProcess agent = started(node);
      Process mute = mute(node.volume().directory(), agent);
      try {
        node.iptables(Family.IPV4, "-F " + Expected.CHAIN);
        node.awaitRules(Family.IPV4, RULES);
        agent.awaitLine(line -> line.contains("no answer within 2s"));
        agent.awaitLine(line -> line.contains("the last good one stays in force"));
        // Now nobody waits for it any more.
        node.iptables(Family.IPV4, "-F " + Expected.CHAIN);
        node.awaitRules(Family.IPV4, RULES);
      } finally {
        end(mute);
      }
      agent.awaitLine(line -> line.contains("the config file is good again"));
      node.volume().publish("");
      node.awaitRules(Family.IPV4, Expected.DEFAULTS);
    }
  }

  @Test
  void itEndsAtOnce() throws IOException, InterruptedException {
    try (Node node = Node.open()) {
      AgentProcess agent = started(node);
      Process mute = mute(node.volume().directory(), agent);
      try {
        // The watch waits for the mount within a second, and the pass that this causes for two.
        node.iptables(Family.IPV4, "-F " + Expected.CHAIN);
        agent.awaitLine(line -> line.contains("no answer within 2s"));
        agent.terminate();
        assertEquals(0, agent.awaitExit(AT_ONCE));
        assertEquals(RULES, node.rules(Family.IPV4));
      } finally {
        end(mute);
      }
    }
  }

  /** What the loop itself waits for has no deadline where nobody foresaw one: a program's place. */
  @Test
  void aLoopThatWaitsForEverIsNotAlive() throws IOException, InterruptedException {
    assumeTrue(Form.isLong(), "it takes two minutes");
    try (Node node = Node.open()) {
      FakePrograms programs = node.fakePrograms();
      AgentProcess agent = started(node, "--backend=iptables", "--listen=127.0.0.1:9999");
      agent.awaitLine(line -> line.contains("listening on"));
      assertEquals("ok", healthz(node));
      Process mute = mute(Path.of(programs.path()), agent);
      try {
        node.namespace().nft("flush ruleset"); // something to look at, and to write
        Eventually.within(
            Duration.ofSeconds(150),
            "an agent that is not alive",
            () -> healthz(node),
            answer -> answer.startsWith("no progress for "));
      } finally {
        end(mute);
      }
      Eventually.within(AT_ONCE, "a live agent", () -> healthz(node), "ok"::equals);
      node.awaitRules(Family.IPV4, RULES);
    }
  }

  private static String healthz(Node node) throws IOException {
    InetSocketAddress where = new InetSocketAddress("127.0.0.1", 9999);
    return node.namespace().call(() -> Fetch.get(where, "/healthz").body().strip());
  }

  /** In mounts of its own. */
  private static AgentProcess started(Node node, String... flags) {
    assumeTrue(Files.exists(Path.of("/dev/fuse")), "no FUSE here");
    node.volume().publish("nonMasqueradeCIDRs: [10.9.0.0/16]\n");
    AgentProcess agent = node.startBy(List.of("/usr/bin/unshare", "--mount"), flags);
    Node.awaitFirstPass(agent);
    return agent;
  }

  private static Process mute(Path directory, AgentProcess agent) throws IOException {
    String pid = String.valueOf(agent.pid());
    Process mute =
        new ProcessBuilder("nsenter", "-t", pid, "-m", "sh", "-c", MUTE, directory.toString())
            .redirectErrorStream(true)
            .start();
    byte[] word = mute.getInputStream().readNBytes("mounted\n".length());
    assertEquals("mounted\n", new String(word, StandardCharsets.UTF_8));
    return mute;
  }

  private static void end(Process mute) throws IOException, InterruptedException {
    mute.getOutputStream().close();
    mute.waitFor();
  }
}
