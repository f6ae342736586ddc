package ipmasq.deploy.cluster;

import ipmasq.testkit.Eventually;
import ipmasq.testkit.Namespace;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A node: network, mount and host name namespaces with containerd, kubelet and kube-proxy in them.
 */
final class ClusterNode implements AutoCloseable {
  /** Where the programs of a node keep their files: each node has its own, and so has each run. */
  private static final List<String> OWN = List.of("/var/lib", "/var/log");

  private static final Duration GONE = Duration.ofSeconds(30);

  private final int number;
  private final Namespace network;
  private final Path folder;
  private final Path logs;
  private final Binaries binaries;
  private final List<Daemon> daemons = new ArrayList<>();
  private Cgroups cgroups;
  private Start start = () -> {};
  private Process holder;

  ClusterNode(int number, Namespace network, Path work, Path logs, Binaries binaries)
      throws IOException {
    this.number = number;
    this.network = network;
    this.folder = Files.createDirectories(work.resolve(name()));
    this.logs = logs;
    this.binaries = binaries;
  }

  String name() {
    return "n" + number;
  }

  Namespace network() {
    return network;
  }

  String address() {
    return "172.30.0.1" + number;
  }

  String address6() {
    return "fd30::1" + number;
  }

  /** Makes the mount namespace, kept by a process that does nothing. */
  void open() throws IOException {
    cgroups = Cgroups.create(name());
    var script = new StringBuilder("set -e\nhostname " + name() + "\n");
    // A sysfs of this network namespace, with the machine's control groups in it.
    var groups = Files.createDirectories(folder.resolve("cgroup"));
    script
        .append("mount --rbind /sys/fs/cgroup %s\n".formatted(groups))
        .append("umount -R -l /sys\nmount -t sysfs sysfs /sys\n")
        .append("mount --rbind %1$s /sys/fs/cgroup\numount -R -l %1$s\n".formatted(groups));
    for (var path : OWN) {
      var own = Files.createDirectories(folder.resolve(path.substring(1)));
      script.append("mount --bind %s %s\n".formatted(own, path));
    }
    script
        .append("mount -t tmpfs tmpfs /run\nmkdir -p /run/lock /run/netns\n")
        .append("mount --make-rshared /\necho ready\nexec sleep infinity\n");
    holder =
        new ProcessBuilder(
                "unshare",
                "--mount",
                "--uts",
                "--propagation=private",
                "nsenter",
                "--net=/run/netns/" + network.name(),
                "sh",
                "-c",
                script.toString())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectError(Redirect.to(logs.resolve(name() + "-mounts.log").toFile()))
            .start();
    if (!"ready".equals(holder.inputReader().readLine())) {
      throw new AssertionError(Files.readString(logs.resolve(name() + "-mounts.log")));
    }
  }

  /** A command as a shell of the node runs it. */
  ProcessBuilder command(String... command) {
    var whole =
        new ArrayList<>(
            List.of("nsenter", "--target=" + holder.pid(), "--mount", "--net", "--uts", "--"));
    whole.addAll(Arrays.asList(command));
    var builder = new ProcessBuilder(whole);
    builder.environment().put("PATH", binaries.path());
    return builder;
  }

  private void run(String program, String... arguments) throws IOException {
    var command = new ArrayList<>(List.of(binaries.program(program)));
    command.addAll(Arrays.asList(arguments));
    daemons.add(
        Daemon.start(name() + "-" + program, logs, command(command.toArray(String[]::new))));
  }

  void startContainerd() throws IOException {
    var plugins =
        binaries.cniFolders().stream().map(f -> '"' + f + '"').collect(Collectors.joining(", "));
    var config =
        """
        version = 3
        [plugins."io.containerd.cri.v1.images".pinned_images]
          sandbox = "%s"
        [plugins."io.containerd.cri.v1.runtime"]
          restrict_oom_score_adj = true
        [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
          runtime_type = "io.containerd.runc.v2"
        [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
          BinaryName = "%s"
          SystemdCgroup = false
        [plugins."io.containerd.cri.v1.runtime".cni]
          bin_dirs = [%s]
          conf_dir = "%s"
        """
            .formatted(PauseImage.NAME, binaries.program("runc"), plugins, folder.resolve("cni"));
    Files.writeString(
        Files.createDirectories(folder.resolve("cni")).resolve("10-pods.conflist"),
        """
        {"cniVersion": "1.0.0", "name": "pods", "plugins": [
          {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
           "ipam": {"type": "host-local", "ranges": [[{"subnet": "%s"}], [{"subnet": "%s"}]],
                    "routes": [{"dst": "0.0.0.0/0"}, {"dst": "::/0"}]}},
          {"type": "portmap", "capabilities": {"portMappings": true}, "snat": true}]}
        """
            .formatted(podRange(), podRange6()));
    run("containerd", "--config=" + Files.writeString(folder.resolve("containerd.toml"), config));
    Eventually.within(
        Duration.ofSeconds(30),
        "containerd answers on " + name(),
        () -> command("ctr", "version").redirectErrorStream(true).start(),
        ClusterNode::succeeds);
  }

  private static boolean succeeds(Process process) {
    try (var out = process.getInputStream()) {
      out.readAllBytes();
      return process.waitFor() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  String podRange() {
    return "10.244.%d.0/24".formatted(number);
  }

  String podRange6() {
    return "fd44:0:0:%d::/64".formatted(number);
  }

  /** Starts kubelet and kube-proxy. */
  void join(Path kubelet, Path proxy, String mode) throws IOException {
    startKubelet(kubelet);
    startProxy(proxy, mode);
    start =
        () -> {
          startContainerd();
          startKubelet(kubelet);
          startProxy(proxy, mode);
        };
  }

  /** What an outage leaves is on the disk: no program, no rule, no network of pods, no mount. */
  void reboot() throws IOException, InterruptedException {
    daemons.reversed().forEach(Daemon::close);
    daemons.clear();
    endAll();
    var outage =
        """
        nft flush ruleset; conntrack -F
        for link in $(ip -o link show type veth | grep -v eth0 | cut -d ' ' -f 2 | cut -d @ -f 1); do
          ip link delete $link
        done
        ip link delete cni0
        grep -o ' /var/lib/[^ ]*kube[^ ]*' /proc/mounts | sort -r | xargs -r umount -l
        umount -R -l /run && mount -t tmpfs tmpfs /run && mkdir -p /run/lock /run/netns
        """;
    var log = logs.resolve(name() + "-outage.log").toFile();
    command("sh", "-c", outage).redirectErrorStream(true).redirectOutput(log).start().waitFor();
    start.run();
  }

  @FunctionalInterface
  private interface Start {
    void run() throws IOException;
  }

  private void startKubelet(Path kubeconfig) throws IOException {
    var resolv = Files.writeString(folder.resolve("resolv.conf"), "nameserver 10.96.0.10\n");
    var config =
        """
        apiVersion: kubelet.config.k8s.io/v1beta1
        kind: KubeletConfiguration
        authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
        authorization: {mode: AlwaysAllow}
        cgroupDriver: cgroupfs
        cgroupRoot: /%s
        failSwapOn: false
        containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
        podCIDR: %s
        resolvConf: %s
        localStorageCapacityIsolation: false
        evictionHard: {memory.available: 100Mi, nodefs.available: "1%%", imagefs.available: "1%%"}
        imageGCHighThresholdPercent: 99
        imageGCLowThresholdPercent: 98
        """
            .formatted(cgroups.name(), podRange(), resolv);
    if (Cgroups.isVersion1()) {
      config += "failCgroupV1: false\n";
    }
    run(
        "kubelet",
        "--config=" + Files.writeString(folder.resolve("kubelet.yaml"), config),
        "--kubeconfig=" + kubeconfig,
        "--hostname-override=" + name(),
        "--node-ip=" + address());
  }

  private void startProxy(Path kubeconfig, String mode) throws IOException {
    var config =
        """
        apiVersion: kubeproxy.config.k8s.io/v1alpha1
        kind: KubeProxyConfiguration
        mode: %s
        clusterCIDR: 10.244.0.0/16
        clientConnection: {kubeconfig: %s}
        hostnameOverride: %s
        conntrack: {maxPerCore: 0}
        """
            .formatted(mode, kubeconfig, name());
    run("kube-proxy", "--config=" + Files.writeString(folder.resolve("proxy.yaml"), config));
  }

  /** The process id of one of its programs. */
  long process(String program) {
    return daemons.stream()
        .filter(daemon -> daemon.name().equals(name() + "-" + program))
        .findFirst()
        .orElseThrow()
        .process()
        .pid();
  }

  /** Daemons that have ended although nobody told them to. */
  List<String> dead() {
    return daemons.stream().filter(d -> !d.alive()).map(Daemon::name).toList();
  }

  @Override
  public void close() {
    daemons.reversed().forEach(Daemon::close);
    daemons.clear();
    if (holder != null) {
      endAll();
      holder.destroyForcibly();
      holder.onExit().join();
    }
    if (cgroups != null) {
      Eventually.within(
          GONE,
          "the control groups of " + name() + " are gone",
          () -> {
            cgroups.remove();
            return cgroups.exists();
          },
          exists -> !exists);
    }
  }

  /** Shims and containers outlive containerd on purpose. */
  private void endAll() {
    var mounts = mounts(holder.pid());
    Eventually.within(
        GONE,
        "nothing runs on " + name(),
        () -> {
          var left = inhabitants(mounts);
          left.forEach(ProcessHandle::destroyForcibly);
          return left;
        },
        List::isEmpty);
  }

  private List<ProcessHandle> inhabitants(String mounts) {
    var pods = cgroups.processes();
    return ProcessHandle.allProcesses()
        .filter(p -> p.pid() != holder.pid() && isAlive(p.pid()))
        .filter(p -> pods.contains(p.pid()) || mounts(p.pid()).equals(mounts))
        .toList();
  }

  /** What has ended but was not waited for has no namespaces any more. */
  private static boolean isAlive(long process) {
    return !mounts(process).isEmpty();
  }

  private static String mounts(long process) {
    try {
      return Files.readSymbolicLink(Path.of("/proc/" + process + "/ns/mnt")).toString();
    } catch (IOException gone) {
      return "";
    }
  }
}
