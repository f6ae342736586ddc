package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonParser;
import ipmasq.testkit.Eventually;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code kubectl ip-masq} in front of a kubectl that plays a cluster: its words, its questions and
 * what it refuses. That Kubernetes understands it is for {@code ClusterTest} and {@code FleetTest}.
 */
class PluginTest {
  private static final String OLD = "nonMasqueradeCIDRs: [10.0.0.0/8]\n";
  private static final String OLD_NAME = "ip-masq-agent-b8bf7a36";
  private static final String NEW = "nonMasqueradeCIDRs: [172.16.0.0/12]\n";
  private static final String NEW_NAME = "ip-masq-agent-bb72ec8a";

  @TempDir Path folder;

  private FakeCluster cluster(int nodes) throws Exception {
    return new FakeCluster(folder, nodes);
  }

  /** A config is mounted by the name of its content already. */
  private FakeCluster staged(int nodes) throws Exception {
    var cluster = cluster(nodes);
    cluster.write("maps/" + OLD_NAME, OLD);
    cluster.edit("daemonset", "config ip-masq-agent", "config " + OLD_NAME);
    cluster.edit("pods", "True.ip-masq-agent", "True|" + OLD_NAME);
    return cluster;
  }

  @ParameterizedTest
  @ValueSource(strings = {"dash", "bash --posix", "busybox sh"})
  void everyShell(String shell) throws Exception {
    assumeTrue(isHere(shell.split(" ")[0]), "no such shell here");
    var cluster = staged(2);
    assertEquals(
        List.of(
            "NODE | CONFIG | VERSION | STATE",
            "n1 | " + OLD_NAME + " | 0.2.0 | ready",
            "n2 | " + OLD_NAME + " | 0.2.0 | ready",
            "2 of 2 nodes are ready. Configs: " + OLD_NAME + " on 2."),
        cluster.runIn(shell, "status").lines());
    var applied = cluster.runIn(shell, "apply", cluster.config(NEW), "--yes");
    assertEquals(0, applied.exit(), applied.err());
    assertTrue(applied.out().endsWith("2 of 2 nodes have " + NEW_NAME + ".\n"), applied.out());
    assertEquals(List.of(), cluster.leftovers());
  }

  @Test
  void onlyAgentsThatAreNotReadyAreAskedWhy() throws Exception {
    var cluster = staged(300);
    for (int i = 5; i <= 8; i++) {
      cluster.edit("pods", "\nn%1$d.a-%1$d.True".formatted(i), "\nn%1$d|a-%1$d|False".formatted(i));
    }
    cluster.write("says/a-5", "Not ready: the file | is \u001b[31mbad.\nmore\n");
    cluster.write("says/a-6", "Not ready: the file | is \u001b[31mbad.\n");
    cluster.write("broken/a-7", "Error from server (NotFound): no such container\n");
    cluster.write("hangs/a-8", "");
    cluster.edit("nodes", "\nn9.True", "\nn9|Unknown");
    cluster.edit("pods", "\nn10.a-10.*", "");
    var said = cluster.run("status", "--timeout=10");
    assertEquals(1, said.exit());
    assertEquals(
        """
        294 of 300 nodes are ready. Configs: ip-masq-agent-b8bf7a36 on 299.
          2: Not ready: the file   is ?[31mbad. (n5 n6)
          1: no answer: no such container (n7)
          1: no answer within 3 s (n8)
          1: the node is not ready (n9)
          1: no agent on this node (n10)
        """,
        said.out()
            .lines()
            .skip(301)
            .map(line -> line.replaceAll("within \\d+ s", "within 3 s") + "\n")
            .collect(Collectors.joining()));
    assertEquals(4, cluster.calls().stream().filter(c -> c.contains(" exec ")).count());
  }

  /** Its node has no agent for a moment, and is not done. */
  @Test
  void aPodThatIsGoingIsNone() throws Exception {
    var cluster = staged(2);
    cluster.edit("pods", "0.2.0\\|\\|\nn2", "0.2.0||deleted\nn2");
    var said = cluster.run("status");
    assertTrue(said.out().contains("1 of 2 nodes are ready"), said.out());
    assertTrue(said.out().contains("no agent on this node (n1)"), said.out());
    cluster.edit("nodes", "n1.True", "n1|Unknown");
    assertTrue(cluster.run("status").out().contains("the node is not ready (n1)"));
  }

  @Test
  void statusForScripts() throws Exception {
    var cluster = staged(2);
    cluster.edit("pods", "a-2.True", "a-2|False");
    cluster.write("says/a-2", "Not ready: \"quoted\\\".\n");
    var json = JsonParser.parseString(cluster.run("status", "-o", "json").out()).getAsJsonObject();
    var second = json.getAsJsonArray("nodes").get(1).getAsJsonObject();
    assertEquals("unready", second.get("state").getAsString());
    assertEquals("Not ready: \"quoted\\\".", second.get("reason").getAsString());
  }

  @Test
  void applies() throws Exception {
    var cluster = staged(3);
    var said = cluster.run("apply", cluster.config(NEW), "--yes", "--canary=n2");
    assertEquals(
        """
        ip-masq-agent-bb72ec8a on n2: 1 to add
        n2: 9 of pods
        3 of 3 nodes have ip-masq-agent-bb72ec8a.
        """,
        said.out());
    assertEquals(0, said.exit(), said.err());
    assertEquals(NEW, cluster.read("maps/" + NEW_NAME));
    assertEquals("me\n", cluster.read("maps/" + NEW_NAME + ".by"));
    assertEquals(OLD_NAME + "\n", cluster.read("maps/" + NEW_NAME + ".before"));
    var patches = cluster.read("patches").lines().toList();
    assertEquals(2, patches.size());
    for (var part : List.of("\"op\":\"test\"", OLD_NAME, NEW_NAME, "OnDelete", "~1held")) {
      assertTrue(patches.getFirst().contains(part), patches.getFirst());
    }
    assertTrue(patches.getLast().contains("RollingUpdate"), patches.getLast());
    assertTrue(cluster.calls().stream().anyMatch(c -> c.contains("delete pod a-2")));
  }

  /** The first config of its own: the one before is kept, and the DaemonSet becomes staged. */
  @Test
  void aConfigMapEditedInPlaceIsLeftBehind() throws Exception {
    var cluster = cluster(2);
    cluster.write("maps/ip-masq-agent", OLD);
    var said = cluster.run("apply", cluster.config(NEW), "--yes");
    assertEquals(0, said.exit(), said.err());
    assertTrue(said.err().contains("editing ip-masq-agent changes nothing"), said.err());
    assertEquals(OLD, cluster.read("maps/" + OLD_NAME));
    assertEquals(OLD_NAME + "\n", cluster.read("maps/" + NEW_NAME + ".before"));
    var patch = cluster.read("patches");
    for (var part : List.of("optional\",\"value\":false", "minReadySeconds\",\"value\":30")) {
      assertTrue(patch.contains(part), patch);
    }
    assertEquals(0, cluster.run("rollback", "--yes").exit());
    assertTrue(cluster.read("pods").contains(OLD_NAME));
  }

  @Test
  void theDefaultsAreAConfigToo() throws Exception {
    var cluster = cluster(1);
    assertEquals(0, cluster.run("apply", cluster.config(NEW), "--yes").exit());
    var before = cluster.read("maps/" + NEW_NAME + ".before").strip();
    assertEquals("{}\n", cluster.read("maps/" + before));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "wrong                              | the agent does not take the file",
        "'kind: ConfigMap'                  | is a manifest",
      })
  void aBadFileChangesNothing(String text, String reason) throws Exception {
    var cluster = staged(2);
    var said = cluster.run("apply", cluster.config(text + "\n"), "--yes");
    assertEquals(1, said.exit());
    assertTrue(said.err().contains(reason), said.err());
    assertFalse(cluster.has("patches"));
  }

  @Test
  void aBadConfigStopsAtTheFirstNode() throws Exception {
    var cluster = staged(3);
    cluster.write("refuses/" + NEW_NAME, "");
    cluster.write("says/a-1", "Not ready: the link is missing.\n");
    var said = cluster.run("apply", cluster.config(NEW), "--yes", "--canary=n1", "--patience=1");
    assertEquals(1, said.exit());
    assertTrue(said.err().contains("1: Not ready: the link is missing. (n1)"), said.err());
    assertTrue(said.err().contains("rollback returns to " + OLD_NAME), said.err());
    assertEquals(2, cluster.read("pods").lines().filter(p -> p.contains(OLD_NAME)).count());
    var status = cluster.run("status");
    assertTrue(status.out().contains("The rollout of " + NEW_NAME + " is held"), status.out());
    assertEquals(0, cluster.run("rollback", "--yes").exit());
    assertFalse(cluster.read("daemonset").contains("held"));
  }

  @Test
  void undoesUnasked() throws Exception {
    var cluster = staged(3);
    cluster.write("refuses/" + NEW_NAME, "");
    var said = cluster.run("apply", cluster.config(NEW), "--yes", "--undo", "--patience=1");
    assertEquals(1, said.exit());
    assertTrue(said.out().endsWith("3 of 3 nodes have " + OLD_NAME + ".\n"), said.out());
  }

  /** What is written tests the name that was read: of two at once, one is refused. */
  @Test
  void onlyAConfigOfTheHistoryIsMounted() throws Exception {
    var cluster = staged(1);
    cluster.write("maps/ip-masq-agent-other", NEW);
    var said = cluster.run("rollback", "--to=ip-masq-agent-other", "--yes");
    assertEquals(1, said.exit());
    assertTrue(said.err().contains("not a ConfigMap of the history"), said.err());
  }

  /** What a revision or a pod names is needed; what nobody noted may be another apply's. */
  @Test
  void configsThatNothingNamesAreRemoved() throws Exception {
    var cluster = staged(1);
    for (var config : List.of("00000001", "00000002")) {
      cluster.write("maps/ip-masq-agent-" + config, "{}");
      cluster.write("maps/ip-masq-agent-" + config + ".applied", "2026-01-01");
    }
    cluster.write("maps/ip-masq-agent-00000003", "just made by another apply");
    cluster.write("maps/" + OLD_NAME + ".applied", "2026-01-01");
    cluster.write("revisions", "ip-masq-agent-00000002\n");
    var said = cluster.run("apply", cluster.config(NEW), "--yes");
    assertTrue(said.out().endsWith("Removed ip-masq-agent-00000001, which nothing uses.\n"));
    assertFalse(cluster.has("maps/ip-masq-agent-00000001"));
    for (var config : List.of(OLD_NAME, "ip-masq-agent-00000002", "ip-masq-agent-00000003")) {
      assertTrue(cluster.has("maps/" + config), config);
    }
  }

  @Test
  void paceIsWidenedByTheDeadAndPutBack() throws Exception {
    var cluster = staged(30);
    cluster.edit("nodes", "n7.True", "n7|False");
    cluster.edit("nodes", "n8.True", "n8|Unknown");
    cluster.edit("daemonset", "available 30", "available 28");
    var said = cluster.run("apply", cluster.config(NEW), "--yes");
    assertEquals(0, said.exit(), said.err());
    assertTrue(said.out().contains("28 of 30 nodes have"), said.out());
    assertTrue(said.out().contains("get it when they return: n7 n8"), said.out());
    var paces =
        cluster
            .read("patches")
            .lines()
            .filter(p -> p.contains("maxUnavailable"))
            .map(p -> p.replaceAll(".*maxUnavailable\",\"value\":([^}]*)}.*", "$1"))
            .toList();
    assertEquals(List.of("5", "\"10%\""), paces);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "argument cleanup                   | is being uninstalled",
        "config ip-masq-agent-more          | mounts several ConfigMaps",
        "strategy OnDelete                  | is OnDelete, so nothing would roll out",
      })
  void whatNoRolloutCanChangeIsNotWritten(String line, String reason) throws Exception {
    var cluster = staged(1);
    cluster.write("daemonset", cluster.read("daemonset") + line + "\n");
    refuses(cluster, "apply " + cluster.config(NEW), reason);
    refuses(cluster, "rollback --to " + OLD_NAME, reason);
  }

  @ParameterizedTest
  @CsvSource({
    "helm, belongs to Helm; change its values",
    "argocd-controller, belongs to Argo CD; change it in git",
    "kustomize-controller, belongs to Flux; change it in git",
    "deployer, belongs to deployer; change it there",
  })
  void whatOthersOwnIsNotWritten(String owner, String reason) throws Exception {
    var cluster = staged(1);
    cluster.write("owner", owner);
    refuses(cluster, "apply " + cluster.config(NEW), reason);
    refuses(cluster, "rollback --to " + OLD_NAME, reason);
    refuses(cluster, "uninstall", reason);
    cluster.write("owner", "kubectl-create");
    assertEquals(0, cluster.run("apply", cluster.config(NEW), "--yes").exit());
  }

  private static void refuses(FakeCluster cluster, String command, String reason) throws Exception {
    var said = cluster.run((command + " --yes").split(" "));
    assertEquals(1, said.exit());
    assertTrue(said.err().contains("nothing was changed: "), said.err());
    assertTrue(said.err().contains(reason), said.err());
    assertFalse(cluster.has("patches"));
  }

  @Test
  void aGoAgentIsNotMadeACleaner() throws Exception {
    var cluster = staged(1);
    cluster.write("broken/a-1", "exec: \"ip-masq-agent\": executable file not found in $PATH\n");
    refuses(cluster, "uninstall", "not this project's (a Go agent?)");
  }

  @Test
  void nothingIsWrittenWithoutAnAnswer() throws Exception {
    var cluster = staged(1);
    for (var command : List.of("apply " + cluster.config(NEW), "uninstall")) {
      var said = cluster.run(command.split(" "));
      assertEquals(1, said.exit());
      assertTrue(said.err().contains("give --yes"), said.err());
      assertFalse(cluster.has("patches"));
    }
  }

  @Test
  void rollsBackAndForth() throws Exception {
    var cluster = staged(2);
    cluster.write("maps/" + OLD_NAME + ".by", "them");
    assertEquals(0, cluster.run("apply", cluster.config(NEW), "--yes").exit());
    assertEquals(0, cluster.run("rollback", "--yes").exit());
    assertTrue(cluster.read("pods").contains(OLD_NAME));
    assertEquals(0, cluster.run("rollback", "--yes").exit());
    assertTrue(cluster.read("pods").contains(NEW_NAME));
    var history = cluster.run("history").lines();
    assertEquals(2, history.size());
    assertTrue(
        history.stream().anyMatch(line -> line.startsWith("* " + NEW_NAME)), history::toString);
  }

  @Test
  void thereMayBeNothingToGoBackTo() throws Exception {
    var said = staged(1).run("rollback", "--yes");
    assertEquals(1, said.exit());
    assertTrue(said.err().contains("no config before"), said.err());
  }

  @Test
  void flowsAreSummedOverNodes() throws Exception {
    var cluster = staged(3);
    assertEquals(
        """
        3606 of 9300 flows on 3 nodes would leave with another source if they began now.
          3600 to 10.0.0.0/8: masqueraded, then the pod's address
          6 to fd00::/8: masqueraded, then the pod's address
        """,
        cluster.run("plan", cluster.config(NEW), "--flows").out());
  }

  @ParameterizedTest
  @ValueSource(strings = {"explain", "trace"})
  void fromThePodsAddressOnItsNode(String command) throws Exception {
    var cluster = staged(3);
    var said = cluster.run(command, "web", "8.8.8.8", "fd00::1", "--proto=udp", "-n", "shop");
    assertEquals(
        command
            + " --from=10.244.2.7 --proto=udp 8.8.8.8\n"
            + command
            + " --from=fd00::7 --proto=udp fd00::1\n",
        said.out());
    assertTrue(cluster.calls().contains("--namespace=shop get pod web"));
    assertTrue(cluster.calls().stream().anyMatch(c -> c.contains("exec -i a-2 ")));
  }

  @Test
  void aGoAgentIsNamed() throws Exception {
    var cluster = staged(1);
    cluster.write(
        "broken/a-1", "error: exec: \"ip-masq-agent\": executable file not found in $PATH\n");
    var said = cluster.run("check", cluster.config(NEW));
    assertTrue(said.err().contains("not this project's (a Go agent?)"), said.err());
  }

  @Test
  void uninstallTurnsThePodsIntoCleaners() throws Exception {
    var cluster = staged(2);
    var said = cluster.run("uninstall", "--yes", "--configmaps");
    assertEquals(0, said.exit(), said.err());
    assertTrue(said.out().contains("removed from 2 nodes"), said.out());
    assertFalse(cluster.has("daemonset"));
    assertFalse(cluster.has("maps/" + OLD_NAME));
    // The chart's hook does the same.
    var hook = Project.text("deploy/helm/ip-masq-agent/templates/cleanup-hook.yaml");
    var patch = cluster.read("patches");
    for (var part :
        List.of("--hold", "--dry-run", "/etc/config", "maxUnavailable", "100%", "NET_RAW")) {
      assertTrue(patch.contains(part) && hook.contains(part), part);
    }
    JsonParser.parseString(patch);
    assertTrue(patch.contains("--masq-chain=MINE"), patch);
  }

  @Test
  void uninstallWaitsForUnreachableNodes() throws Exception {
    var cluster = staged(2);
    cluster.edit("nodes", "n2.True", "n2|Unknown");
    var said = cluster.run("uninstall", "--yes");
    assertEquals(1, said.exit());
    assertTrue(said.err().contains("until they return: n2"), said.err());
    assertTrue(cluster.has("daemonset"));
    assertEquals(0, cluster.run("uninstall", "--yes", "--forget").exit());
    assertFalse(cluster.has("daemonset"));
  }

  @ParameterizedTest
  @CsvSource({
    "uninstall --yes, can-i delete, you may not delete daemonsets",
    "status, get pods, cannot get resource \"pods\"",
    "history, get configmaps, cannot get resource \"configmaps\"",
  })
  void missingRightsAreNamed(String command, String right, String words) throws Exception {
    var cluster = staged(1);
    cluster.write("forbidden", right.equals("can-i delete") ? "delete daemonsets\n" : right + "\n");
    var said = cluster.run(command.split(" "));
    assertEquals(1, said.exit());
    assertTrue(said.err().contains(words), said.err());
    assertFalse(cluster.has("patches"));
  }

  @ParameterizedTest
  @CsvSource({
    "status extra, status takes no \"extra\"",
    "stats, unknown command \"stats\"",
    "apply, apply takes one file",
    "apply a b, apply takes one file",
    "explain web, explain needs a pod and an address",
    "status --wach=1, unknown flag --wach",
    "status --patience=0, --timeout and --patience are whole numbers above 0",
    "status --timeout, --timeout is unknown or needs a value",
    "status --name=a|b, \"a|b\" is no name",
    "status -o yaml, -o can be json"
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
    Files.delete(folder.resolve("cluster/daemonset"));
    var said = cluster.run("status", "-n", "net");
    assertEquals(1, said.exit());
    assertTrue(said.err().contains("there is no DaemonSet net/ip-masq-agent"), said.err());
  }

  @Test
  void anInterruptEndsEverything() throws Exception {
    var cluster = staged(3);
    cluster.write("hangs/a-1", "");
    cluster.write("hangs/a-3", "");
    // As a terminal does: to the whole group of processes.
    var process =
        cluster
            .start(List.of("setsid", "env", "--default-signal=INT", "dash"), "status", "--deep")
            .redirectOutput(Redirect.DISCARD)
            .redirectError(Redirect.DISCARD)
            .start();
    try {
      for (var pod : List.of("a-1", "a-3")) {
        Eventually.eventually(
            "asked", () -> cluster.readIfThere("hung." + pod), pid -> !pid.isEmpty());
      }
      new ProcessBuilder("kill", "-INT", "--", "-" + process.pid()).start().waitFor();
      assertTrue(process.waitFor(10, TimeUnit.SECONDS), "it goes on");
      assertEquals(130, process.exitValue());
      for (var pod : List.of("a-1", "a-3")) {
        long kubectl = Long.parseLong(cluster.read("hung." + pod).strip());
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
