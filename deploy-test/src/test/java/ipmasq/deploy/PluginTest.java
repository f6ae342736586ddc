package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kubernetes.client.openapi.models.V1DaemonSet;
import ipmasq.testkit.Eventually;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code kubectl ip-masq} in front of a kubectl that plays a cluster. */
class PluginTest {
  private static final String OLD = "nonMasqueradeCIDRs: [10.0.0.0/8]\n";
  private static final String NEW = "nonMasqueradeCIDRs: [172.16.0.0/12]\n";

  @TempDir Path folder;

  private FakeCluster cluster(int nodes) throws Exception {
    return new FakeCluster(folder, nodes);
  }

  private FakeCluster clusterWithConfig(int nodes) throws Exception {
    var cluster = cluster(nodes);
    cluster.write("map/ip-masq-agent", OLD);
    for (int i = 1; i <= nodes; i++) {
      cluster.write("volume/ip-masq-agent-" + i, OLD);
    }
    return cluster;
  }

  @ParameterizedTest
  @ValueSource(strings = {"dash", "bash --posix", "busybox sh"})
  void everyShell(String shell) throws Exception {
    assumeTrue(isHere(shell.split(" ")[0]), "no such shell here");
    var said = cluster(2).runIn(shell, "status");
    assertEquals(
        List.of(
            "NODE | VERSION | CONFIG | BACKEND | STATE",
            "n1 | 0.1.0 | defaults | iptables-nft | ok",
            "n2 | 0.1.0 | defaults | iptables-nft | ok"),
        said.lines());
    assertEquals(0, said.exit());
    assertEquals("2 of 2 nodes are ok.\n", said.err());
  }

  @Test
  void hundredsOfNodesOfWhichSomeHaveProblems() throws Exception {
    var cluster = clusterWithConfig(300);
    cluster.write("broken/ip-masq-agent-7", "Error from server (NotFound): no such container\n");
    cluster.write("hangs/ip-masq-agent-8", "");
    cluster.write("bad/ip-masq-agent-9", "the file | is bad");
    cluster.write("volume/ip-masq-agent-10", NEW);
    cluster.write("pods", cluster.read("pods") + "n301|ip-masq-agent-301|Pending|ErrImagePull\n");
    cluster.write("nodes", cluster.read("nodes") + "n301\nn302\n");
    var said = cluster.run("status", "--node-timeout=2");
    assertEquals(1, said.exit());
    var lines = said.lines();
    assertEquals(303, lines.size());
    assertEquals(
        List.of(
            "n301 | - | - | - | pod ip-masq-agent-301 is not running: ErrImagePull",
            "n7 | - | - | - | no answer: no such container",
            "n8 | - | - | - | no answer within 2 s",
            "n9 | 0.1.0 | b8bf7a366802 | iptables-nft | Not ready: the file   is bad. Line 7: no CIDR: \"10/8\"",
            "n302 | - | - | - | no agent on this node"),
        lines.stream()
            .skip(1)
            .filter(line -> !line.endsWith(" ok"))
            .map(line -> line.replace("file | is", "file   is"))
            .toList());
    assertTrue(said.err().contains("asked 200 of 300 nodes"), said.err());
    assertTrue(said.err().contains("297 of 302 nodes are ok. Their configs differ: "), said.err());
    assertEquals(List.of(), cluster.leftovers());
  }

  @Test
  void watchPrintsWhatChanges() throws Exception {
    var cluster = cluster(2);
    var out = folder.resolve("out");
    var process =
        cluster
            .start(List.of("dash"), "status", "--watch", "--interval=1")
            .redirectOutput(out.toFile())
            .redirectError(Redirect.DISCARD)
            .start();
    try {
      Eventually.eventually("the first table", () -> Files.readString(out), t -> t.contains("n2"));
      cluster.write("bad/ip-masq-agent-2", "somebody touched it");
      var text =
          Eventually.eventually(
              "the change", () -> Files.readString(out), t -> t.contains("touched"));
      assertEquals(1, text.lines().filter(line -> line.startsWith("n1 ")).count(), text);
    } finally {
      process.descendants().forEach(ProcessHandle::destroy);
      process.destroy();
      process.waitFor();
    }
  }

  @Test
  void applies() throws Exception {
    var cluster = clusterWithConfig(3);
    var said = cluster.run("apply", cluster.config(NEW), "--yes");
    assertEquals(
        """
        On n1:
          IPv4 (iptables-nft)
            +10.0.0.0/8
        3 of 3 nodes have the config (bb72ec8a677f).
        """,
        said.out());
    assertEquals("", said.err());
    assertEquals(0, said.exit());
    assertEquals(NEW, cluster.read("map/ip-masq-agent"));
    assertEquals(OLD, cluster.read("map/ip-masq-agent-previous"));
    assertEquals(NEW, cluster.read("volume/ip-masq-agent-3"));
    assertEquals(1, cluster.calls().stream().filter(c -> c.contains("annotate")).count());
  }

  @Test
  void aKubeletThatOverlooksTheFirstNudgeGetsAnother() throws Exception {
    var cluster = clusterWithConfig(3);
    cluster.write("deaf/ip-masq-agent-2", "once\n");
    var said = cluster.run("apply", cluster.config(NEW), "--yes");
    assertEquals(0, said.exit(), said.err());
    var nudges = cluster.calls().stream().filter(c -> c.contains("annotate")).toList();
    assertEquals(2, nudges.size());
    assertFalse(nudges.getLast().contains("ip-masq-agent-1"), nudges.getLast());
    assertTrue(nudges.getLast().contains("ip-masq-agent-2"), nudges.getLast());
  }

  @Test
  void saysWhichNodesDoNotFollow() throws Exception {
    var cluster = clusterWithConfig(4);
    cluster.write("deaf/ip-masq-agent-2", "once\nagain\n");
    cluster.write("bad/ip-masq-agent-3", "IPv6 is off here");
    cluster.write("broken/ip-masq-agent-4", "error: unable to upgrade connection\n");
    var said = cluster.run("apply", cluster.config(NEW), "--yes", "--timeout=3");
    assertEquals(1, said.exit());
    assertTrue(said.err().startsWith("1 of 4 nodes have the config after "), said.err());
    assertTrue(
        said.err()
            .endsWith(
                """
                 s. These have not:
                  n2: still has b8bf7a366802
                  n3: Not ready: IPv6 is off here. Line 7: no CIDR: "10/8"
                  n4: no answer: unable to upgrade connection
                """),
        said.err());
  }

  @Test
  void aBadFileChangesNothing() throws Exception {
    var cluster = clusterWithConfig(1);
    var file = cluster.config("wrong\n");
    var said = cluster.run("apply", file, "--yes");
    assertEquals(1, said.exit());
    assertEquals(
        file
            + """
            :1:1: error: not a config
            kubectl ip-masq: nothing was changed: n1 does not take the file
            """,
        said.err());
    assertEquals(OLD, cluster.read("map/ip-masq-agent"));
    assertFalse(cluster.has("map/ip-masq-agent-previous"));
  }

  @Test
  void anotherNodeChecksTheFileWhereOneIsSilent() throws Exception {
    var cluster = clusterWithConfig(3);
    cluster.write("hangs/ip-masq-agent-1", "");
    cluster.write("broken/ip-masq-agent-2", "error: unable to upgrade connection\n");
    var said =
        cluster.run("apply", cluster.config(NEW), "--yes", "--node-timeout=1", "--timeout=2");
    assertTrue(said.out().startsWith("On n3:\n"), said.out());
    assertTrue(
        said.err()
            .startsWith("n1: no answer within 1 s\nn2: no answer: unable to upgrade connection\n"),
        said.err());
    assertEquals(NEW, cluster.read("map/ip-masq-agent"));
  }

  @Test
  void aPlanIsNoCondition() throws Exception {
    var cluster = clusterWithConfig(1);
    var said = cluster.run("apply", cluster.config("# unplanned\n" + NEW), "--yes");
    assertEquals(0, said.exit());
    assertEquals(
        """
        ip-masq-agent: the rules cannot be read
        The file is good, but n1 cannot say what it would change there.
        """,
        said.err());
  }

  @Test
  void nothingIsWrittenWithoutAnAnswer() throws Exception {
    var cluster = clusterWithConfig(1);
    var said = cluster.run("apply", cluster.config(NEW));
    assertEquals(1, said.exit());
    assertTrue(said.err().contains("give --yes"), said.err());
    assertEquals(OLD, cluster.read("map/ip-masq-agent"));
  }

  @Test
  void theSameFileAgainKeepsTheOneBefore() throws Exception {
    var cluster = clusterWithConfig(1);
    assertEquals(0, cluster.run("apply", cluster.config(NEW), "--yes").exit());
    var said = cluster.run("apply", cluster.config(NEW), "--yes");
    assertEquals(0, said.exit());
    assertTrue(said.err().contains("has this config already"), said.err());
    assertEquals(OLD, cluster.read("map/ip-masq-agent-previous"));
  }

  @Test
  void rollsBackAndForth() throws Exception {
    var cluster = clusterWithConfig(2);
    cluster.run("apply", cluster.config(NEW), "--yes");
    assertEquals(0, cluster.run("rollback", "--yes").exit());
    assertEquals(OLD, cluster.read("volume/ip-masq-agent-2"));
    assertEquals(0, cluster.run("rollback", "--yes").exit());
    assertEquals(NEW, cluster.read("volume/ip-masq-agent-2"));
  }

  @Test
  void rollsBackToNoConfigAtAll() throws Exception {
    var cluster = cluster(2);
    assertEquals(0, cluster.run("apply", cluster.config(NEW), "--yes").exit());
    var said = cluster.run("rollback", "--yes");
    assertEquals(0, said.exit(), said.err());
    assertTrue(said.out().contains("go back to their defaults"), said.out());
    assertFalse(cluster.has("map/ip-masq-agent"));
    assertFalse(cluster.has("volume/ip-masq-agent-1"));
  }

  @Test
  void thereMayBeNothingToGoBackTo() throws Exception {
    var cluster = clusterWithConfig(1);
    var said = cluster.run("rollback", "--yes");
    assertEquals(1, said.exit());
    assertTrue(said.err().contains("there is no earlier config"), said.err());
  }

  @Test
  void explainsFromThePodsAddressOnItsNode() throws Exception {
    var cluster = cluster(3);
    var said = cluster.run("explain", "web", "8.8.8.8", "fd00::1", "--proto=udp", "-n", "shop");
    assertEquals(0, said.exit(), said.err());
    var asked = cluster.calls().stream().filter(c -> c.contains(" exec ")).toList();
    assertTrue(asked.getFirst().contains("exec ip-masq-agent-2 "), asked.getFirst());
    assertTrue(asked.getFirst().endsWith("explain --from=10.244.2.7 --proto=udp 8.8.8.8"));
    assertTrue(asked.getLast().endsWith("explain --from=fd00::7 --proto=udp fd00::1"));
    assertTrue(cluster.calls().contains("--namespace=shop get pod web"));
  }

  @Test
  void uninstallRemovesTheAgentsFirst() throws Exception {
    var cluster = cluster(2);
    var said = cluster.run("uninstall", "--yes");
    assertEquals(0, said.exit(), said.err());
    var order =
        cluster.calls().stream()
            .map(call -> call.replace("--namespace=kube-system ", ""))
            .filter(call -> !call.startsWith("get "))
            .map(call -> call.replaceAll("(\\w+ \\S+).*", "$1"))
            .toList();
    assertEquals(
        List.of("delete daemonset", "apply -f", "rollout status", "delete daemonset"), order);
    var set = Objects.of(cluster.read("cleanup")).only("DaemonSet");
    V1DaemonSet.validateJsonElement(set);
    // The same as is shipped, with the flags of these agents.
    assertEquals(
        """
        + /spec/template/spec/initContainers/0/args/1 = --masq-chain=MINE
        """,
        Objects.difference(
            Objects.of(Project.text("deploy/cleanup/ip-masq-agent-cleanup.yaml")).only("DaemonSet"),
            set));
  }

  @ParameterizedTest
  @CsvSource({
    "status extra, status takes no \"extra\"",
    "stats, unknown command \"stats\"",
    "apply, apply needs the file",
    "apply a b, apply takes one file",
    "explain web, explain needs a pod and an address",
    "explain web example.org, \"example.org\" is not an IP address",
    "status --wach, unknown flag --wach",
    "status --parallel=0, --parallel is a whole number above 0",
    "status --interval, --interval needs a value"
  })
  void wrongUsage(String arguments, String complaint) throws Exception {
    var said = cluster(1).run(arguments.split(" "));
    assertEquals(2, said.exit());
    assertTrue(said.err().startsWith("kubectl ip-masq: " + complaint), said.err());
  }

  @Test
  void help() throws Exception {
    var said = cluster(1).run("--help");
    assertEquals(0, said.exit());
    assertTrue(said.out().startsWith("Looks after the ip-masq-agents of a cluster.\n"));
    assertTrue(said.out().lines().allMatch(line -> line.length() <= 80), said.out());
  }

  @Test
  void noSuchDaemonSet() throws Exception {
    var cluster = cluster(1);
    Files.delete(folder.resolve("cluster/pods"));
    var said = cluster.run("status");
    assertEquals(1, said.exit());
    assertTrue(said.err().contains("daemonsets.apps \"ip-masq-agent\" not found"), said.err());
  }

  @Test
  void anInterruptEndsEverything() throws Exception {
    var cluster = cluster(3);
    cluster.write("hangs/ip-masq-agent-1", "");
    cluster.write("hangs/ip-masq-agent-3", "");
    // As a terminal does: to the whole group of processes.
    var process =
        cluster
            .start(List.of("setsid", "env", "--default-signal=INT", "dash"), "status")
            .redirectOutput(Redirect.DISCARD)
            .redirectError(Redirect.DISCARD)
            .start();
    try {
      for (var pod : List.of("1", "3")) {
        Eventually.eventually(
            "asked", () -> cluster.has("hung.ip-masq-agent-" + pod), asked -> asked);
      }
      new ProcessBuilder("kill", "-INT", "--", "-" + process.pid()).start().waitFor();
      assertTrue(process.waitFor(10, TimeUnit.SECONDS), "it goes on");
      assertEquals(130, process.exitValue());
      for (var pod : List.of("1", "3")) {
        long kubectl = Long.parseLong(cluster.read("hung.ip-masq-agent-" + pod).strip());
        Eventually.eventually(
            "kubectl ended",
            () -> ProcessHandle.of(kubectl).filter(p -> p.info().command().isPresent()),
            Optional::isEmpty);
      }
      assertEquals(List.of(), cluster.leftovers());
    } finally {
      process.destroyForcibly();
    }
  }

  private static boolean isHere(String program) {
    return List.of("/bin/", "/usr/bin/").stream().anyMatch(d -> Files.exists(Path.of(d + program)));
  }
}
