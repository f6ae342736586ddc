package ipmasq.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Family;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Agents that are not ours, or not here, and what they left. */
@KernelTest
@Execution(ExecutionMode.CONCURRENT)
class OtherAgentsTest {
  /** What a Go agent leaves behind. */
  private static final String GO =
      """
      *nat
      :IP-MASQ-AGENT - [0:0]
      -A POSTROUTING -m comment --comment "ip-masq-agent: ensure nat POSTROUTING directs all non-LOCAL destination traffic to our custom IP-MASQ-AGENT chain" -m addrtype ! --dst-type LOCAL -j IP-MASQ-AGENT
      -A IP-MASQ-AGENT -d 172.16.0.0/12 -m comment --comment "ip-masq-agent: local traffic is not subject to MASQUERADE" -j RETURN
      -A IP-MASQ-AGENT -m comment --comment "ip-masq-agent: outbound traffic is subject to MASQUERADE (must be last in chain)" -j MASQUERADE
      COMMIT
      """;

  /** A process by the name of the Go agent, which does nothing. */
  private static AgentProcess goAgent(Node node) throws IOException {
    Path folder = Files.createDirectories(node.volume().directory().resolve("..go"));
    Path program = folder.resolve("ip-masq-agent");
    if (!Files.exists(program)) {
      Files.copy(Path.of("/bin/sleep"), program);
    }
    return AgentProcess.start(program, node.namespace(), Map.of(), "300");
  }

  /** Without the node's variables: with iptables on its PATH, which the agent lacks. */
  private static Result fromOutside(Node node, String... words) {
    String[] line = new String[words.length + 1];
    line[0] = AgentProcess.builtAgent().toString();
    System.arraycopy(words, 0, line, 1, words.length);
    return node.namespace().run(line);
  }

  @Test
  void explainGoesByTheRunningAgentAndNotByWhatAnotherLeft() {
    try (Node node = Node.open()) {
      node.restore(Family.IPV4, GO);
      node.volume().publish("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
      node.fakePrograms().removeAll();
      AgentProcess agent = node.running("--backend=nftables");
      String explained = fromOutside(node, "explain", "10.9.9.9", "--output=json").ok();
      assertTrue(explained.contains("\"wanted\":\"kept\",\"actual\":\"translated\""), explained);
      agent.terminate();
      agent.awaitExit();
    }
  }

  /** Its backend is its own choice: it found no iptables, and this process does. */
  @Test
  void explainAsksTheRunningAgentForItsBackend() {
    try (Node node = Node.open()) {
      node.restore(Family.IPV4, GO);
      node.volume().publish("nonMasqueradeCIDRs: [10.0.0.0/8]\n");
      node.fakePrograms().removeAll();
      AgentProcess agent = node.running("--listen=127.0.0.1:10347");
      agent.awaitLine(line -> line.contains("listening on"));
      String explained = fromOutside(node, "explain", "10.9.9.9", "--output=json").ok();
      assertTrue(explained.contains("\"wanted\":\"kept\",\"actual\":\"translated\""), explained);
    }
  }

  @Test
  void rulesThatNobodyHereCanListAreReported() {
    try (Node node = Node.open()) {
      node.restore(Family.IPV4, GO);
      node.fakePrograms().removeAll();
      AgentProcess agent = node.running("--backend=nftables");
      agent.awaitLine(
          line ->
              line.contains("WARN")
                  && line.contains("chain IP-MASQ-AGENT in table ip nat")
                  && line.contains("nft delete chain ip nat IP-MASQ-AGENT"));
      String status = node.command("status").stdout();
      assertTrue(status.contains("chain IP-MASQ-AGENT in table ip nat"), status);
    }
  }

  @Test
  void aGoAgentIsNamed() throws IOException {
    try (Node node = Node.open();
        AgentProcess other = goAgent(node)) {
      String who = "nother ip-masq-agent runs here (process " + other.pid() + "), not this one";
      Result status = node.command("status");
      assertEquals(1, status.exit(), status.toString());
      assertTrue(status.stdout().startsWith("A" + who), status.toString());
      Result apply = node.command("apply");
      assertEquals(1, apply.exit(), apply.toString());
      assertTrue(apply.stderr().contains("a" + who), apply.toString());
      assertTrue(node.untouched());
      Result cleanup = node.command("cleanup");
      assertTrue(cleanup.stderr().contains("a" + who), cleanup.toString());
      assertEquals(0, cleanup.exit(), cleanup.toString());
      node.running();
      Result both = node.command("status");
      assertTrue(both.stdout().startsWith("IPv4 masquerading is in force"), both.toString());
      assertTrue(both.stderr().contains("a" + who), both.toString());
    }
  }

  /** Our launcher is a script of that name, which the kernel calls so too. */
  @Test
  void aScriptByThatNameIsNone() throws IOException {
    try (Node node = Node.open()) {
      Path folder = Files.createDirectories(node.volume().directory().resolve("..script"));
      Path script = folder.resolve("ip-masq-agent");
      Files.writeString(script, "#!/bin/sh\necho begun\nsleep 300\n:\n");
      assertTrue(script.toFile().setExecutable(true));
      try (AgentProcess beside = AgentProcess.start(script, node.namespace(), Map.of())) {
        beside.awaitLine(line -> line.equals("begun"));
        Result status = node.command("status");
        assertTrue(status.stdout().startsWith("No agent runs here."), status.toString());
        assertFalse(status.stderr().contains("nother"), status.toString());
      }
    }
  }

  /** A command line proves nothing: anybody can write one. */
  @ParameterizedTest
  @ValueSource(strings = {"setpriv --reuid=65534 --regid=65534 --clear-groups", "env"})
  void aProcessThatOnlyNamesOurMainClassIsNoAgent(String as) {
    try (Node node = Node.open();
        AgentProcess beside =
            AgentProcess.start(
                Path.of("/bin/sh"),
                node.namespace(),
                Map.of(),
                "-c",
                "exec " + as + " sh -c 'echo begun; sleep 300; :' ipmasq.cli.Main")) {
      beside.awaitLine(line -> line.equals("begun"));
      Result status = node.command("status");
      assertEquals(1, status.exit(), status.toString());
      assertTrue(status.stdout().startsWith("No agent runs here"), status.toString());
      assertEquals(0, node.command("apply").exit());
    }
  }

  /** As of a program whose file was mounted, and is no longer. */
  @Test
  void aProcessWithoutANameIsPassedOver() throws IOException {
    try (Node node = Node.open()) {
      Path program = Files.createFile(node.volume().directory().resolve("..program"));
      String script =
          """
          mount --bind /bin/sleep %1$s; %1$s 300 &
          until [ "$(readlink /proc/$!/exe)" = %1$s ]; do :; done
          umount --lazy %1$s; readlink /proc/$!/exe; wait
          """
              .formatted(program);
      try (AgentProcess beside =
          AgentProcess.start(
              Path.of("/usr/bin/unshare"),
              node.namespace(),
              Map.of(),
              "--mount",
              "--kill-child",
              "--fork",
              "sh",
              "-c",
              script)) {
        beside.awaitLine(line -> line.equals("/"));
        Result apply = node.command("apply");
        assertEquals(0, apply.exit(), apply.toString());
      }
    }
  }

  /** Port 0 is the kernel's choice; the process's own socket tells which it was. */
  @Test
  void anAgentIsAskedAtTheSocketThatIsItsOwn() {
    try (Node node = Node.open()) {
      AgentProcess agent = node.running("--listen=127.0.0.1:0");
      agent.awaitLine(line -> line.contains("listening on"));
      Result status = node.command("status");
      assertEquals(0, status.exit(), status.toString());
      assertTrue(status.stdout().contains("\nAgent "), status.toString());
      AgentProcess second = node.running("--listen=" + address(agent), "--masq-chain=SECOND");
      second.awaitLine(
          line ->
              line.contains("cannot listen on " + address(agent) + " (Address already in use")
                  && line.contains("process " + agent.pid() + " (java) has it): masquerading"));
    }
  }

  private static String address(AgentProcess agent) {
    return agent.stderr().stream()
        .filter(line -> line.contains("listening on http://"))
        .map(line -> line.substring(line.indexOf("http://") + 7))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void anAgentWhoseNamespaceCannotBeReadIsNotSaidToRunHere() throws IOException {
    try (Node node = Node.open();
        Node elsewhere = Node.open();
        AgentProcess other = goAgent(elsewhere)) {
      AgentProcess agent = elsewhere.running("--masq-chain=ELSEWHERE");
      // The agent may lie below a folder that only root can enter.
      Path home = AgentProcess.builtAgent().getParent().getParent();
      Result status =
          node.shell(
              "unshare --mount sh -c 'mount --bind "
                  + home
                  + " /mnt && exec setpriv --reuid=65534 --regid=65534 --clear-groups"
                  + " /mnt/bin/ip-masq-agent status' || true");
      String said = status.stdout() + status.stderr();
      assertTrue(said.contains("run as root"), said);
      assertFalse(said.contains("process "), said + " beside " + agent + other);
    }
  }
}
