package ipmasq.deploy.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.marcnuri.helm.Helm;
import ipmasq.deploy.Project;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.KernelTest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
  private static final String MASQUERADED = "8.8.8.8";
  private static final String EXEMPT = "10.1.2.3";
  private static final String SOMETIMES = "203.0.113.9";

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
    var transcript = new Transcript();
    try (var cluster = Cluster.open(binaries, mode, logs, transcript)) {
      try {
        new Story(cluster, mode, transcript).tell();
      } catch (Exception | Error e) {
        Files.writeString(logs.resolve("transcript.md"), transcript.markdown());
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
    Files.writeString(logs.resolve("transcript.md"), transcript.markdown());
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

  /** One cluster's day. */
  private static final class Story {
    private final Cluster cluster;
    private final Terminal terminal;
    private final String mode;
    private final Transcript transcript;
    private List<Pod> pods = List.of();

    Story(Cluster cluster, String mode, Transcript transcript) {
      this.cluster = cluster;
      this.terminal = cluster.terminal();
      this.mode = mode;
      this.transcript = transcript;
    }

    void tell() throws Exception {
      transcript.say("## kube-proxy in " + mode + " mode");
      terminal.type("kubectl get nodes");
      if (mode.equals("iptables")) {
        manifests(); // the API server does not care what kube-proxy does
      }
      workload();
      firstContact();
      look();
      apply();
      stopped();
      if (mode.equals("iptables")) {
        deadNode();
        secondConfigMap();
        silentNode();
      }
      rollingUpdate();
      uninstall();
      migrate();
      assertEquals(List.of(), cluster.dead(), "programs of the cluster that ended");
    }

    private void workload() throws Exception {
      Cluster.must(
          terminal.quietly(
              """
              kubectl create -f - <<END
              apiVersion: apps/v1
              kind: DaemonSet
              metadata: {name: web}
              spec:
                selector: {matchLabels: {app: web}}
                template:
                  metadata: {labels: {app: web}}
                  spec:
                    automountServiceAccountToken: false
                    terminationGracePeriodSeconds: 0
                    tolerations: [{operator: Exists}]
                    containers:
                    - {name: web, image: "pause:test", imagePullPolicy: Never}
              END
              kubectl rollout status daemonset/web --timeout=120s"""));
      pods = cluster.pods("web");
      assertEquals(2, pods.size());
    }

    /** What the outside must see of packets to there from each pod. */
    private List<Packets.Expected> expected(String... destinations) {
      var all = new ArrayList<Packets.Expected>();
      for (var pod : pods) {
        for (var destination : destinations) {
          all.add(new Packets.Expected(pod, destination, usual(pod, destination)));
        }
      }
      return all;
    }

    private String usual(Pod pod, String destination) {
      return destination.equals(EXEMPT) ? pod.address() : pod.node().address();
    }

    private void firstContact() throws Exception {
      transcript.say(
          """
          The README's commands. The first is for every node (`ctr` shows the hyphens of a name as
          blanks):""");
      for (var node : cluster.nodes()) {
        var command = "ctr -n k8s.io images import dist/ip-masq-agent-" + version() + ".oci.tar";
        if (node.name().equals("n1")) {
          cluster.on(node).type(command);
        } else {
          Cluster.must(cluster.on(node).quietly(command));
        }
      }
      terminal.type("kubectl create -f ip-masq-agent.yaml");
      terminal.type(
          "kubectl create configmap ip-masq-agent --from-file=agent-config --namespace=kube-system");
      rolledOut();
      terminal.type("kubectl -n kube-system exec daemonset/ip-masq-agent -- ip-masq-agent status");
      warnings();
    }

    private void rolledOut() throws Exception {
      terminal.type(
          "kubectl -n kube-system rollout status daemonset/ip-masq-agent --timeout=180s | tail -n 1");
    }

    /** What an operator would see in red. A busy machine may be too slow for the first probe. */
    private void warnings() throws Exception {
      var events =
          Cluster.must(
              terminal.quietly(
                  "kubectl get events --all-namespaces --field-selector type=Warning"
                      + " -o custom-columns=OBJECT:.involvedObject.name,REASON:.reason,MESSAGE:.message"
                      + " --no-headers | grep ip-masq-agent; true"));
      var others = events.lines().filter(line -> !line.contains("Startup probe failed")).toList();
      assertEquals(List.of(), others, "warnings about the agents");
      if (!events.isEmpty()) {
        System.err.println("the first probe came before the agent listened:\n" + events);
      }
      transcript.say(
          events.isEmpty()
              ? "Kubernetes has no warning event about the agents."
              : "Kubernetes has one kind of warning event about the agents: a startup probe that came"
                  + " too early.");
    }

    private void report(String when, Packets.Stream stream) throws Exception {
      int then = stream.packets();
      Eventually.eventually("packets after it", stream::packets, n -> n > then + 200);
      var report = stream.end();
      transcript.say(
          "%s: %s packets from the pods, **%d wrong or lost**."
              .formatted(when, rounded(report.packets()), report.wrong().size()));
      assertEquals(List.of(), report.wrong().stream().limit(20).toList());
    }

    /** Figures differ each time. */
    private static String rounded(int packets) {
      return packets < 1000 ? "hundreds of" : "thousands of";
    }

    private void look() throws Exception {
      transcript.say("The state of all nodes, and what happens to a pod's packets:");
      terminal.type("kubectl ip-masq status");
      var pod = pods.getFirst();
      var explained =
          terminal.type(
              "kubectl ip-masq explain %s %s %s".formatted(pod.name(), MASQUERADED, EXEMPT));
      assertTrue(explained.contains("masqueraded"), explained);
      assertEquals(pod.node().address(), cluster.packets().source(pod, MASQUERADED));
      assertEquals(pod.address(), cluster.packets().source(pod, EXEMPT));
    }

    private void manifests() throws Exception {
      transcript.say(
          """
          The API server accepts every manifest, in a dry run that creates nothing. It was also asked
          about every component on top of the base, and about the chart with several values.""");
      terminal.type(
          "for overlay in deploy/overlays/*; do"
              + " echo \"$overlay: $(kubectl create --dry-run=server -k $overlay)\"; done");
      terminal.type("kubectl create --dry-run=server -f deploy/cleanup/ip-masq-agent-cleanup.yaml");
      terminal.type("kubectl create --dry-run=server -f deploy/windows/ip-masq-agent-windows.yaml");
      try (var all = Files.list(Project.file("deploy/components"))) {
        for (var one : all.sorted().toList()) {
          component(one);
        }
      }
      for (var values :
          List.of(
              Map.<String, String>of(),
              Map.of("backend", "nftables", "enableIPv6", "true"),
              Map.of("listen.scope", "cluster", "prometheusAnnotations", "true"))) {
        chart(values);
      }
    }

    /** A component is tried on top of the base. */
    private void component(Path component) throws Exception {
      var folder = Files.createTempDirectory(Project.file("deploy-test/target"), "component");
      try {
        var base = folder.relativize(Project.file("deploy/base"));
        Files.writeString(
            folder.resolve("kustomization.yaml"),
            "resources: [%s]%ncomponents: [%s]%n".formatted(base, folder.relativize(component)));
        Cluster.must(terminal.quietly("kubectl create --dry-run=server -k " + folder));
      } finally {
        Files.deleteIfExists(folder.resolve("kustomization.yaml"));
        Files.delete(folder);
      }
    }

    private void chart(Map<String, String> values) throws Exception {
      var command =
          new Helm(Project.file("deploy/helm/ip-masq-agent"))
              .template()
              .withNamespace("kube-system");
      values.forEach(command::set);
      var said =
          terminal.quietly(
              "kubectl create --dry-run=server -f - <<'END_OF_CHART'\n"
                  + command.call()
                  + "\nEND_OF_CHART\n");
      Cluster.must(said);
    }

    /** A config on its way, node by node, under traffic. */
    private void apply() throws Exception {
      transcript.say(
          """
          `203.0.113.0/24` is to see pod addresses. First a file with a mistake, then a good one. (The
          test has set `minReadySeconds` to 5, not to wait for half a minute at each node.)""");
      Files.createDirectories(Project.file("deploy-test/target"));
      Cluster.must(
          terminal.quietly(
              "kubectl -n kube-system patch daemonset ip-masq-agent -p"
                  + " '{\"spec\":{\"minReadySeconds\":5}}'"));
      var bad = config("my-config", "10.0.0.0/8", "203.0.113.1/24");
      terminal.type(1, "cat %1$s && kubectl ip-masq apply %1$s --yes".formatted(bad));
      var good = config("my-config", "10.0.0.0/8", "203.0.113.0/24");
      var stream = cluster.packets().stream(expected(MASQUERADED, EXEMPT));
      terminal.type("cat %1$s && kubectl ip-masq apply %1$s --yes --canary=n1".formatted(good));
      report("Meanwhile", stream);
      for (var pod : pods) {
        assertEquals(pod.address(), cluster.packets().source(pod, SOMETIMES));
      }
      transcript.say("Packets to `203.0.113.9` now arrive with the pods' addresses. And back:");
      stream = cluster.packets().stream(expected(MASQUERADED, EXEMPT));
      terminal.type("kubectl ip-masq rollback --yes");
      report("Meanwhile", stream);
      for (var pod : pods) {
        assertEquals(pod.node().address(), cluster.packets().source(pod, SOMETIMES));
      }
      terminal.type("kubectl ip-masq status");
      terminal.type("kubectl ip-masq history");
    }

    /** A config that no agent has checked, as a pipeline may write it. */
    private void stopped() throws Exception {
      transcript.say(
          """
          A pipeline mounts a config that no agent has checked. The first node refuses it and keeps its
          rules, and the other never sees it:""");
      var stream = cluster.packets().stream(expected(MASQUERADED, EXEMPT));
      var bad = config("bad-config", "10.0.0.0/33");
      var before = mounted();
      terminal.type(
          "kubectl -n kube-system create configmap ip-masq-agent-bad --from-file=config=" + bad);
      terminal.type(
          "kubectl -n kube-system patch daemonset ip-masq-agent --type=json -p '[{\"op\":\"replace\","
              + "\"path\":\"/spec/template/spec/volumes/0/configMap/name\",\"value\":\"ip-masq-agent-bad\"}]'");
      Eventually.within(
          Duration.ofSeconds(90),
          "one node refuses it",
          () -> terminal.quietly("kubectl ip-masq status").text(),
          text -> text.contains("1: Not ready") || text.contains("config file is bad"));
      var status =
          terminal.type(1, "kubectl ip-masq status | sed -n '/nodes are ready/,$p'; test $? = 1");
      assertTrue(status.contains("1 of 2 nodes are ready"), status);
      assertTrue(status.contains(before + " on 1"), status);
      terminal.type("kubectl ip-masq rollback --to %s --yes".formatted(before));
      terminal.type("kubectl -n kube-system delete configmap ip-masq-agent-bad");
      report("Meanwhile", stream);
    }

    private String mounted() throws Exception {
      return Cluster.must(
          terminal.quietly(
              "kubectl -n kube-system get daemonset ip-masq-agent -o"
                  + " jsonpath='{.spec.template.spec.volumes[0].configMap.name}'"));
    }

    /**
     * A node that answers nobody does not hold up the other, and gets the config when it is back.
     */
    private void deadNode() throws Exception {
      transcript.say("The kubelet of n2 dies. A new config does not wait for it:");
      var kubelet = cluster.nodes().getLast().process("kubelet");
      Cluster.must(terminal.quietly("kill -STOP " + kubelet));
      try {
        notReady("n2");
        var file = config("my-config", "10.0.0.0/8");
        var said = terminal.type("kubectl ip-masq apply %s --yes".formatted(file));
        assertTrue(said.contains("get it when they return: n2"), said);
      } finally {
        Cluster.must(terminal.quietly("kill -CONT " + kubelet));
      }
      Eventually.within(
          Duration.ofSeconds(120),
          "n2 has it, too",
          () -> terminal.quietly("kubectl ip-masq status").text(),
          text -> text.contains("2 of 2 nodes are ready") && !text.contains(", "));
      transcript.say("When it is back, it has the new config:");
      terminal.type("kubectl ip-masq status");
    }

    private void notReady(String node) throws Exception {
      Eventually.within(
          Duration.ofSeconds(120),
          node + " is not ready",
          () -> terminal.quietly("kubectl get node " + node + " --no-headers").text(),
          text -> text.contains("NotReady"));
    }

    /** A list too large for one ConfigMap, in small: the second one's ranges join the first's. */
    private void secondConfigMap() throws Exception {
      transcript.say(
          "A second ConfigMap, for lists that are too large for one"
              + " ([large lists](operations.md#large-lists)):");
      var folder = Project.file("deploy-test/target/two-configmaps");
      Files.createDirectories(folder);
      Files.writeString(
          folder.resolve("kustomization.yaml"),
          """
          resources: [../../../deploy/base]
          components: [../../../deploy/components/two-configmaps]
          """);
      var more = config("more", "203.0.113.0/24");
      terminal.type(
          "kubectl -n kube-system create configmap ip-masq-agent-more --from-file=config=" + more);
      terminal.type("cat deploy-test/target/two-configmaps/kustomization.yaml");
      var applied =
          terminal.quietly(
              "kubectl apply --server-side --force-conflicts --dry-run=server -k "
                  + "deploy-test/target/two-configmaps");
      assertTrue(
          applied.text().contains("may not specify more than 1 volume type"), applied.text());
      terminal.type("kubectl replace -k deploy-test/target/two-configmaps");
      rolledOut();
      terminal.type("kubectl ip-masq status");
      for (var pod : pods) {
        assertEquals(pod.address(), cluster.packets().source(pod, SOMETIMES));
      }
      transcript.say("Packets to `203.0.113.9` arrive with the pods' addresses. Without it again:");
      terminal.type("kubectl replace -f ip-masq-agent.yaml");
      rolledOut();
      terminal.type("kubectl -n kube-system delete configmap ip-masq-agent-more");
    }

    /**
     * The kubelet of n2 is stopped: it answers nobody, and nobody refuses the connection either.
     */
    private void silentNode() throws Exception {
      transcript.say("The kubelet of n2 hangs, and every agent is asked:");
      var kubelet = cluster.nodes().getLast().process("kubelet");
      Cluster.must(terminal.quietly("kill -STOP " + kubelet));
      try {
        terminal.type(1, "kubectl ip-masq status --deep --timeout=6; test $? = 1");
      } finally {
        Cluster.must(terminal.quietly("kill -CONT " + kubelet));
      }
    }

    private String config(String name, String... ranges) throws Exception {
      var text = new StringBuilder("nonMasqueradeCIDRs:\n");
      for (var range : ranges) {
        text.append("  - ").append(range).append('\n');
      }
      var path = "deploy-test/target/" + name;
      Files.writeString(Project.file(path), text);
      return path;
    }

    private void rollingUpdate() throws Exception {
      transcript.say("A rolling update, and then every agent killed at once:");
      var stream = cluster.packets().stream(expected(MASQUERADED, EXEMPT));
      terminal.type("kubectl -n kube-system rollout restart daemonset/ip-masq-agent");
      rolledOut();
      terminal.type(
          "kubectl -n kube-system delete pods -l k8s-app=ip-masq-agent --grace-period=0 --force 2>/dev/null");
      rolledOut();
      report("Meanwhile", stream);
    }

    private void uninstall() throws Exception {
      transcript.say("Uninstall, while the kubelet of n2 is dead again. It waits for that node:");
      var kubelet = cluster.nodes().getLast().process("kubelet");
      Cluster.must(terminal.quietly("kill -STOP " + kubelet));
      try {
        notReady("n2");
        terminal.type(1, "kubectl ip-masq uninstall --yes");
        assertFalse(hasRules(cluster.nodes().getFirst()), "rules are left on n1");
      } finally {
        Cluster.must(terminal.quietly("kill -CONT " + kubelet));
      }
      transcript.say("And when it is back:");
      Eventually.within(
          Duration.ofSeconds(90),
          "n2 is back",
          () -> terminal.quietly("kubectl get node n2 --no-headers").text(),
          text -> !text.contains("NotReady"));
      terminal.type("kubectl ip-masq uninstall --yes --configmaps");
      for (var node : cluster.nodes()) {
        assertFalse(hasRules(node), "rules are left on " + node.name());
      }
      for (var pod : pods) {
        assertEquals(pod.address(), cluster.packets().source(pod, MASQUERADED));
      }
      assertEquals(
          "",
          Eventually.within(
              Duration.ofSeconds(60),
              "the pods are gone",
              () -> terminal.quietly("kubectl -n kube-system get daemonsets,pods -o name").text(),
              String::isEmpty));
      transcript.say(
          "No rule of the agent is left on any node: packets to `8.8.8.8` arrive with pod addresses.");
    }

    /** Beside the other agent: it writes nothing and says what would change. */
    private void dryRun() throws Exception {
      terminal.type("kubectl apply -k deploy/overlays/dry-run");
      Cluster.must(
          terminal.quietly(
              "kubectl -n kube-system rollout status daemonset/ip-masq-agent-dry-run"
                  + " --timeout=180s"));
      var logs =
          terminal.type(
              "kubectl -n kube-system logs -l k8s-app=ip-masq-agent-dry-run --prefix"
                  + " | grep 'rules would change'");
      assertEquals(2, logs.lines().count(), logs);
      transcript.say(
          mode.equals("nftables")
              ? "Every range is new, because this agent would use nftables here, as kube-proxy does."
              : "One range is new; everything else stays as it is.");
      var status =
          terminal.type(
              "kubectl -n kube-system exec daemonset/ip-masq-agent-dry-run -- ip-masq-agent status"
                  + " | head -n 1");
      assertTrue(status.startsWith("Dry run: "), status);
      terminal.type("kubectl delete -k deploy/overlays/dry-run");
    }

    /** Rules in iptables or in a table of our own. */
    private boolean hasRules(ClusterNode node) throws Exception {
      var rules = Cluster.must(cluster.on(node).quietly("iptables-save -t nat; nft list ruleset"));
      return rules.contains("ip-masq-agent");
    }

    private void migrate() throws Exception {
      transcript.say(
          """
          From the Go agent and back, as in [migrating](migrating.md). In its place runs a DaemonSet of
          the same name that writes the Go agent's rules, word for word; its own image is not at hand
          here. Pods send packets all the time. A dry run first:""");
      var upstream = Project.file("deploy-test/src/test/resources/go-agent.yaml");
      Cluster.must(
          terminal.quietly(
              "kubectl create -f %s && kubectl -n kube-system rollout status daemonset/ip-masq-agent --timeout=180s"
                  .formatted(upstream)));
      for (var packet : expected(MASQUERADED, EXEMPT)) {
        Eventually.eventually(
            "its rules are there",
            () -> cluster.packets().source(packet.pod(), packet.destination()),
            packet.source()::equals);
      }
      var stream = cluster.packets().stream(expected(MASQUERADED, EXEMPT));
      dryRun();
      transcript.say("Then the real one:");
      terminal.type(
          "kubectl -n kube-system get daemonset ip-masq-agent -o yaml | grep -v '^  resourceVersion:'"
              + " > deploy-test/target/before.yaml");
      terminal.type("kubectl replace -f ip-masq-agent.yaml");
      rolledOut();
      terminal.type("kubectl ip-masq status");
      for (var node : cluster.nodes()) {
        var rules =
            Cluster.must(
                cluster.on(node).quietly("iptables -t nat -S | grep ip-masq-agent: ; true"));
        long jumps = rules.lines().filter(l -> l.startsWith("-A POSTROUTING")).count();
        assertEquals(mode.equals("nftables") ? 0 : 1, jumps, rules);
      }
      transcript.say("And back:");
      if (mode.equals("nftables")) {
        terminal.type(
            "kubectl -n kube-system patch daemonset ip-masq-agent --type=json -p"
                + " '[{\"op\":\"add\",\"path\":\"/spec/template/spec/containers/0/args/-\","
                + "\"value\":\"--backend=iptables\"}]'");
        rolledOut();
      }
      terminal.type("kubectl replace -f deploy-test/target/before.yaml");
      rolledOut();
      report("Meanwhile", stream);
      for (var node : cluster.nodes()) {
        var tables = Cluster.must(cluster.on(node).quietly("nft list tables"));
        assertFalse(tables.contains("ip-masq-agent"), tables);
      }
    }
  }
}
