package ipmasq.deploy.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.deploy.Project;
import ipmasq.testkit.Eventually;
import java.net.InetAddress;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Who tells the story: types commands, has files and pods, and watches packets. Used by one thread.
 */
final class Operator {
  static final String MASQUERADED = "8.8.8.8";
  static final String EXEMPT = "10.1.2.3";
  static final String SOMETIMES = "203.0.113.9";

  private final Cluster cluster;
  private final Transcript transcript;
  private final Terminal viewer;
  private final Terminal operator;
  private List<Pod> pods = List.of();

  Operator(Cluster cluster, Transcript transcript) throws Exception {
    this.cluster = cluster;
    this.transcript = transcript;
    this.viewer = cluster.terminal("viewer");
    this.operator = cluster.terminal("operator");
    must(Roles.BOUND);
    must(
        """
        set -e
        for app in web shop; do kubectl create -f - <<END
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: $app}
        spec:
          selector: {matchLabels: {app: $app}}
          template:
            metadata: {labels: {app: $app, sends: packets}}
            spec:
              automountServiceAccountToken: false
              terminationGracePeriodSeconds: 0
              tolerations: [{operator: Exists}]
              containers:
              - {name: web, image: "pause:test", imagePullPolicy: Never}
        END
        done
        kubectl rollout status daemonset/web --timeout=120s
        kubectl rollout status daemonset/shop --timeout=120s""");
    findPods();
  }

  Cluster cluster() {
    return cluster;
  }

  List<Pod> pods() {
    return pods;
  }

  /** After a reboot they have other addresses. */
  void findPods() throws Exception {
    pods = cluster.pods("sends=packets");
    assertEquals(4, pods.size());
  }

  void say(String paragraph) throws Exception {
    transcript.say(paragraph);
  }

  /** Types a command with all rights. */
  String type(String command) throws Exception {
    return cluster.terminal().type(command);
  }

  /** Types a command of the plugin, with no more rights than the roles that are shipped give. */
  String plugin(String command) throws Exception {
    return plugin(0, command);
  }

  String plugin(int exit, String command) throws Exception {
    return terminal(command).type(exit, "kubectl ip-masq " + command);
  }

  /** The same as no part of the story. */
  Terminal.Said quietly(String command) throws Exception {
    return terminal(command).quietly("kubectl ip-masq " + command);
  }

  private Terminal terminal(String command) {
    return command.matches("(apply|rollback|uninstall)\\b.*") ? operator : viewer;
  }

  /** Runs a script that is no part of the story and must succeed. */
  String must(String script) throws Exception {
    return Cluster.must(cluster.terminal().quietly(script));
  }

  /** Waits for a command to succeed. */
  void until(String condition) throws Exception {
    must(
        "for i in $(seq 150); do (%s) > /dev/null 2>&1 && exit; sleep 1; done; %1$s"
            .formatted(condition));
  }

  void untilNode(String node, String state) throws Exception {
    until("kubectl get node " + node + " --no-headers | grep -qw " + state);
  }

  void untilReady() throws Exception {
    until("kubectl ip-masq status");
  }

  void rolledOut() throws Exception {
    type(
        "kubectl -n kube-system rollout status daemonset/ip-masq-agent --timeout=180s | tail -n 1");
  }

  String mounted() throws Exception {
    return must(
        "kubectl -n kube-system get daemonset ip-masq-agent -o"
            + " jsonpath='{.spec.template.spec.volumes[0].configMap.name}'");
  }

  /** Writes a file in the folder where the operator is. */
  String file(String name, String text) throws Exception {
    var path = "deploy-test/target/" + name;
    Files.createDirectories(Project.file(path).getParent());
    Files.writeString(Project.file(path), text);
    return path;
  }

  String config(String name, String... ranges) throws Exception {
    return file(
        name,
        Arrays.stream(ranges)
            .map(range -> "  - " + range + "\n")
            .collect(Collectors.joining("", "nonMasqueradeCIDRs:\n", "")));
  }

  /** With a kubelet that answers nobody: the node is dead to the cluster, and its pods go on. */
  void whileDead(ClusterNode node, Step step) throws Exception {
    var kubelet = node.process("kubelet");
    must("kill -STOP " + kubelet);
    try {
      step.run();
    } finally {
      must("kill -CONT " + kubelet);
    }
  }

  /** Something that happens meanwhile. */
  @FunctionalInterface
  interface Step {
    void run() throws Exception;
  }

  /** While pods send packets, of which none may be wrong or lost. */
  void underTraffic(Step step) throws Exception {
    underTraffic(List.of(), step);
  }

  /** With further packets, of which nothing is expected. */
  void underTraffic(List<String> others, Step step) throws Exception {
    var packets = new ArrayList<Packets.Expected>();
    for (var pod : pods) {
      for (var destination : List.of(MASQUERADED, EXEMPT)) {
        packets.add(new Packets.Expected(pod, destination, usual(pod, destination)));
      }
      others.forEach(destination -> packets.add(new Packets.Expected(pod, destination, "")));
    }
    var stream = cluster.packets().stream(packets);
    step.run();
    int then = stream.packets();
    Eventually.eventually("packets after it", stream::packets, n -> n > then + 200);
    var report = stream.end();
    say(
        "Meanwhile, of thousands of packets from the pods, **%d were wrong or lost**."
            .formatted(report.wrong().size()));
    assertEquals(List.of(), report.wrong().stream().limit(20).toList());
  }

  static String usual(Pod pod, String destination) {
    return destination.equals(EXEMPT) ? pod.address() : pod.node().address();
  }

  /** Packets to there leave as the node's, or as the pod's own. */
  void masqueraded(String destination, boolean masqueraded) {
    for (var pod : pods) {
      boolean ip6 = destination.contains(":");
      var node = ip6 ? pod.node().address6() : pod.node().address();
      var own = ip6 ? pod.address6() : pod.address();
      Eventually.eventually(
          pod + " to " + destination,
          () -> cluster.packets().source(pod, destination),
          InetAddress.ofLiteral(masqueraded ? node : own).getHostAddress()::equals);
    }
  }
}
