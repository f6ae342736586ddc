package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.kubernetes.client.openapi.models.V1DaemonSet;
import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Namespace;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The manifest that takes the agent's rules off every node. */
class ContainerCleanupTest {
  private static final String NO_CONFIG =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: none}}";
  private static final String FOREIGN = "-A POSTROUTING -s 10.1.0.0/16 -j ACCEPT";

  private static JsonObject daemonSet() throws Exception {
    return Objects.of(Project.text("deploy/cleanup/ip-masq-agent-cleanup.yaml")).only("DaemonSet");
  }

  @Test
  void isADaemonSetThatKubernetesKnows() throws Exception {
    V1DaemonSet.validateJsonElement(daemonSet());
    // Kubernetes takes $$ for an escaped $.
    assertTrue(!daemonSet().toString().contains("$$"));
  }

  @Test
  @KernelTest
  void leavesNothingOfOursAndThenWaits(@TempDir Path folder) throws Exception {
    var loaded = Podman.load();
    try (var node = Namespace.open("node")) {
      node.ip("link set lo up");
      node.feed("*nat\n" + FOREIGN + "\nCOMMIT\n", "iptables-restore", "--noflush").ok();
      for (var backend : List.of("nftables", "iptables")) {
        var agent = AgentProcess.builtAgent().toString();
        node.run(agent, "apply", "--enable-ipv6", "--backend=" + backend).ok();
        if (backend.equals("nftables")) {
          assertTrue(node.run("nft", "list", "tables").ok().contains("ip-masq-agent"));
        }
      }
      assertTrue(node.iptablesSave("nat").contains("-j IP-MASQ-AGENT"));
      try (var pod = PlayedPod.of(daemonSet(), loaded.id(), node, folder, NO_CONFIG)) {
        try {
          Eventually.within(
              Duration.ofSeconds(30), "it waits", () -> pod.state("done"), "running"::equals);
        } catch (AssertionError e) {
          throw new AssertionError(e.getMessage() + "\n" + pod.log("cleanup"), e);
        }
      }
      var rules = node.iptablesSave("nat").lines().filter(l -> l.startsWith("-A")).toList();
      assertEquals(List.of(FOREIGN), rules);
      var all = node.run("nft", "list", "ruleset").ok();
      assertTrue(!all.contains("ip-masq-agent") && !all.contains("IP-MASQ-AGENT"), all);
    } finally {
      Podman.podman("rmi", "--force", loaded.id());
    }
  }
}
