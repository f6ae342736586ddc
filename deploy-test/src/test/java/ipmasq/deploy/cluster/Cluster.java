package ipmasq.deploy.cluster;

import com.google.gson.JsonParser;
import ipmasq.deploy.Project;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.Namespace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** The whole of it, from nothing to nodes that are ready and two pods that wait. */
final class Cluster implements AutoCloseable {
  private static final String OUTSIDE = "172.30.0.254";

  private final Binaries binaries;
  private final Path work;
  private final Path logs;
  private final Transcript transcript;
  private final List<AutoCloseable> parts = new ArrayList<>();
  private final List<ClusterNode> nodes = new ArrayList<>();
  private final List<String> attached = new ArrayList<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Thread onExit = new Thread(this::close);
  private Namespace control;
  private ControlPlane plane;
  private Packets packets;
  private Terminal terminal;

  private Cluster(Binaries binaries, Path logs, Transcript transcript) throws IOException {
    this.binaries = binaries;
    this.logs = logs;
    this.transcript = transcript;
    work = Files.createTempDirectory("ipmq-cluster-");
    transcript.hide(work.toString());
  }

  /**
   * @param mode kube-proxy's
   */
  static Cluster open(Binaries binaries, String mode, Path logs, Transcript transcript)
      throws Exception {
    var cluster = new Cluster(binaries, Files.createDirectories(logs), transcript);
    Runtime.getRuntime().addShutdownHook(cluster.onExit);
    try {
      cluster.build(mode);
      return cluster;
    } catch (Exception | Error e) {
      cluster.close();
      throw e;
    }
  }

  private void build(String mode) throws Exception {
    control = part(Namespace.open("control"));
    control.ip(
        "link add br0 type bridge",
        "addr add " + ControlPlane.ADDRESS + "/24 dev br0",
        "link set br0 up",
        "route add default via " + OUTSIDE);
    var outside = part(Namespace.open("outside"));
    plug(outside, OUTSIDE);
    for (int number : new int[] {1, 2}) {
      var network = part(Namespace.open("n" + number));
      var node = part(new ClusterNode(number, network, work, logs, binaries));
      nodes.add(node);
      plug(network, node.address());
      network.ip("route add default via " + OUTSIDE);
      network.sysctl("ipv4/ip_forward=1");
      outside.ip("route add " + node.podRange() + " via " + node.address());
      control.ip("route add " + node.podRange() + " via " + node.address());
      node.open();
    }
    for (var node : nodes) {
      for (var other : nodes) {
        if (other != node) {
          node.network().ip("route add " + other.podRange() + " via " + other.address());
        }
      }
    }
    outside.ip(
        "addr add 8.8.8.8/32 dev lo",
        "addr add 10.1.2.3/32 dev lo",
        "addr add 203.0.113.9/32 dev lo");
    packets = part(new Packets(outside));
    plane = part(new ControlPlane(binaries, control, work, logs));
    plane.start();
    var admin = plane.kubeconfig("admin");
    terminal =
        new Terminal(
            control::processBuilder,
            builder -> {
              builder.environment().put("KUBECONFIG", admin.toString());
              builder
                  .environment()
                  .put("PATH", binaries.path() + ":" + Project.file("deploy").toString());
              return builder;
            },
            transcript);
    var pause = PauseImage.write(work.resolve("pause.tar"));
    for (var node : nodes) {
      node.startContainerd();
      must(on(node).quietly("ctr -n k8s.io images import " + pause));
      node.startKubelet(plane.kubeconfig(node.name()));
      node.startProxy(plane.kubeconfig("proxy"), mode);
    }
    Eventually.within(
        Duration.ofSeconds(90),
        "both nodes have joined",
        () -> terminal.quietly("kubectl get nodes -o name").text().lines().count(),
        count -> count == 2);
    must(terminal.quietly("kubectl wait --for=condition=Ready nodes --all --timeout=120s"));
  }

  /** Connects a host with the bridge. */
  private void plug(Namespace host, String address) {
    var cable = "to-" + address.substring(address.lastIndexOf('.') + 1);
    control.ip(
        "link add %s type veth peer name eth0 netns %s".formatted(cable, host.name()),
        "link set %s master br0 up".formatted(cable));
    host.ip("addr add " + address + "/24 dev eth0", "link set eth0 up");
  }

  private <T extends AutoCloseable> T part(T part) {
    parts.add(part);
    return part;
  }

  static String must(Terminal.Said said) {
    if (said.exit() != 0) {
      throw new AssertionError(said.text());
    }
    return said.text();
  }

  List<ClusterNode> nodes() {
    return nodes;
  }

  /** Where kubectl is. */
  Terminal terminal() {
    return terminal;
  }

  /** A shell on a node. */
  Terminal on(ClusterNode node) {
    return new Terminal(node::command, builder -> builder, transcript);
  }

  Packets packets() {
    return packets;
  }

  /** The pods of a DaemonSet in the default namespace that have a network of their own. */
  List<Pod> pods(String app) throws Exception {
    var list =
        JsonParser.parseString(
                must(terminal.quietly("kubectl get pods --selector=app=" + app + " -o json")))
            .getAsJsonObject();
    var pods = new ArrayList<Pod>();
    for (var item : list.getAsJsonArray("items")) {
      var pod = item.getAsJsonObject();
      var on = pod.getAsJsonObject("spec").get("nodeName").getAsString();
      var address = pod.getAsJsonObject("status").get("podIP").getAsString();
      var node = nodes.stream().filter(n -> n.name().equals(on)).findFirst().orElseThrow();
      pods.add(
          new Pod(
              pod.getAsJsonObject("metadata").get("name").getAsString(),
              node,
              address,
              attach(node, address)));
    }
    pods.sort(Comparator.comparing(pod -> pod.node().name()));
    return pods;
  }

  /** Gives the network namespace of a pod a name, found by its address among the node's tasks. */
  private String attach(ClusterNode node, String address) throws Exception {
    var name = "ipmq-j%d-pod-%s".formatted(ProcessHandle.current().pid(), address);
    if (attached.contains(name)) {
      return name;
    }
    var tasks = must(on(node).quietly("ctr -n k8s.io tasks ls"));
    for (var task : tasks.lines().skip(1).toList()) {
      var process = task.strip().split("\\s+")[1];
      var addresses =
          terminal.quietly("nsenter --target=%s --net ip -4 -o addr".formatted(process)).text();
      if (addresses.contains(" " + address + "/")) {
        must(terminal.quietly("ip netns attach %s %s".formatted(name, process)));
        attached.add(name);
        return name;
      }
    }
    throw new AssertionError("no task on " + node.name() + " has " + address + ":\n" + tasks);
  }

  /** Programs that have ended although nobody told them to. */
  List<String> dead() {
    return nodes.stream().flatMap(node -> node.dead().stream()).toList();
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    var failures = new ArrayList<Throwable>();
    for (var name : attached) {
      attempt(failures, () -> must(terminal.quietly("ip netns del " + name)));
    }
    parts.reversed().forEach(part -> attempt(failures, part::close));
    attempt(failures, () -> delete(work));
    try {
      Runtime.getRuntime().removeShutdownHook(onExit);
    } catch (IllegalStateException alreadyEnding) {
      // This is the hook.
    }
    if (!failures.isEmpty()) {
      var error =
          new AssertionError(
              "the cluster is not gone: " + failures.getFirst(), failures.getFirst());
      failures.forEach(error::addSuppressed);
      throw error;
    }
  }

  @FunctionalInterface
  private interface Step {
    void run() throws Exception;
  }

  private static void attempt(List<Throwable> failures, Step step) {
    try {
      step.run();
    } catch (Exception | AssertionError e) {
      failures.add(e);
    }
  }

  private static void delete(Path root) throws IOException {
    try (var found = Files.walk(root)) {
      for (var path : found.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
