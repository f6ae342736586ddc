package ipmasq.deploy.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ipmasq.deploy.Project;
import ipmasq.testkit.KernelTest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The first day of a cluster with this agent, on a real one, as the guides tell it and with packets
 * throughout: {@code make cluster-test BINARIES=DIR}.
 */
@KernelTest
@Tag("cluster")
class ClusterTest {
  @Test
  void besideKubeProxyWithIptables() throws Exception {
    story("iptables");
  }

  @Test
  void besideKubeProxyWithNftables() throws Exception {
    story("nftables");
  }

  private void story(String mode) throws Exception {
    var given = System.getProperty("ipmasq.cluster.binaries", "");
    assumeTrue(
        !given.isEmpty(),
        "no BINARIES given: make cluster-test BINARIES=DIR, docs/cluster-test.md");
    var binaries = Binaries.in(Path.of(given));
    var image = Project.file("dist/ip-masq-agent-" + version() + ".oci.tar");
    assertTrue(Files.exists(image), "no image under dist: make container");
    var logs = Path.of("target/cluster").toAbsolutePath().resolve(mode);
    var transcript = new Transcript(logs.resolve("transcript.md"));
    try (var cluster = Cluster.open(binaries, mode, logs, transcript)) {
      try {
        tell(cluster, mode, transcript);
      } catch (Exception | Error e) {
        Files.writeString(
            logs.resolve("state.txt"),
            cluster
                .terminal()
                .quietly(
                    "kubectl get all,events -A -o wide; kubectl describe pods -A;"
                        + " kubectl -n kube-system logs -l k8s-app=ip-masq-agent --tail=100")
                .text());
        throw e;
      }
    }
    assertEquals(List.of(), leftovers());
  }

  /** What is mounted or named on the machine and should not be any more. */
  private static List<String> leftovers() throws Exception {
    var mine = "ipmq-(cluster-|j" + ProcessHandle.current().pid() + "-)";
    return Files.readAllLines(Path.of("/proc/self/mountinfo")).stream()
        .filter(Pattern.compile(mine).asPredicate())
        .toList();
  }

  private static String version() throws Exception {
    return Project.text("VERSION").strip();
  }

  private static void tell(Cluster cluster, String mode, Transcript transcript) throws Exception {
    transcript.say("## kube-proxy in " + mode + " mode");
    var operator = new Operator(cluster, transcript);
    var first = new FirstDay(operator);
    var rollouts = new Rollouts(operator);
    var leaving = new Leaving(operator, mode);
    boolean everything = mode.equals("iptables"); // what kube-proxy does is no matter there
    operator.type("kubectl get nodes");
    if (everything) {
      first.manifests();
    }
    first.install(version());
    first.look();
    if (everything) {
      first.secondConfigMap();
    }
    rollouts.apply();
    if (everything) {
      rollouts.twoAtOnce();
    }
    rollouts.stopped(everything);
    if (everything) {
      rollouts.deadNode();
      rollouts.probation();
    }
    rollouts.dualStack();
    leaving.rollingUpdate();
    leaving.uninstall();
    leaving.migrate();
    assertEquals(List.of(), cluster.dead(), "programs of the cluster that ended");
  }
}
