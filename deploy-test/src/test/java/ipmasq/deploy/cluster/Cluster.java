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
  private static final String OUTSIDE6 = "fd30::254";

  /** What is outside. Nobody answers pods from the last three but where their node masquerades. */
  private static final List<String> ADDRESSES =
      List.of(
          "8.8.8.8",
          "10.1.2.3",
          "203.0.113.9",
          "2001:db8::9",
          "2001:db8:1::9",
          "198.51.100.1",
          "198.51.100.2",
          "198.51.100.3");

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
    outside.ip("addr add " + OUTSIDE6 + "/64 dev eth0 nodad");
    for (int number : new int[] {1, 2}) {
      var network = part(Namespace.open("n" + number));
      var node = part(new ClusterNode(number, network, work, logs, binaries));
      nodes.add(node);
      plug(network, node.address());
      network.ip("addr add " + node.address6() + "/64 dev eth0 nodad");
      network.ip("route add default via " + OUTSIDE, "route add default via " + OUTSIDE6);
      network.sysctl("ipv4/ip_forward=1", "ipv6/conf/all/forwarding=1");
      outside.ip(
          "route add " + node.podRange() + " via " + node.address(),
          "route add " + node.podRange6() + " via " + node.address6());
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
    ADDRESSES.forEach(address -> outside.ip("addr add " + address + " dev lo"));
    outside.ip("rule add from 198.51.100.0/24 table 7");
    outside.ip("route add blackhole 10.244.0.0/16 table 7");
    packets = part(new Packets(outside, ADDRESSES));
    plane = part(new ControlPlane(binaries, control, work, logs));
    plane.start();
    terminal = terminal("admin");
    var pause = PauseImage.write(work.resolve("pause.tar"));
    for (var node : nodes) {
      node.startContainerd();
      must(on(node).quietly("ctr -n k8s.io images import " + pause));
      node.join(plane.kubeconfig(node.name()), plane.kubeconfig("proxy"), mode);
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

  /** Where kubectl is, with all rights. */
  Terminal terminal() {
    return terminal;
  }

  /** The same with the rights of the admin, the operator or the viewer. */
  Terminal terminal(String who) throws IOException {
    var kubeconfig = plane.kubeconfig(who).toString();
    return new Terminal(
        control::processBuilder,
        builder -> {
          builder.environment().put("KUBECONFIG", kubeconfig);
          builder.environment().put("PATH", binaries.path() + ":" + Project.file("deploy"));
          return builder;
        },
        transcript);
  }

  /** A shell on a node. */
  Terminal on(ClusterNode node) {
    return new Terminal(node::command, builder -> builder, transcript);
  }

  Packets packets() {
    return packets;
  }

  /** The pods with this label that have a network of their own, by their node. */
  List<Pod> pods(String label) throws Exception {
    var list =
        JsonParser.parseString(must(terminal.quietly("kubectl get pods -o json -l " + label)));
    var pods = new ArrayList<Pod>();
    for (var item : list.getAsJsonObject().getAsJsonArray("items")) {
      var pod = item.getAsJsonObject();
      var on = pod.getAsJsonObject("spec").get("nodeName").getAsString();
      var known = pod.getAsJsonObject("status").getAsJsonArray("podIPs");
      if (known == null) {
        throw new AssertionError("a pod on " + on + " has no address yet");
      }
      var addresses =
          known.asList().stream().map(ip -> ip.getAsJsonObject().get("ip").getAsString()).toList();
      var node = nodes.stream().filter(n -> n.name().equals(on)).findFirst().orElseThrow();
      pods.add(
          new Pod(
              pod.getAsJsonObject("metadata").get("name").getAsString(),
              node,
              addresses.getFirst(),
              addresses.getLast(),
              attach(node, addresses.getFirst())));
    }
    pods.sort(Comparator.comparing(Pod::toString));
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
