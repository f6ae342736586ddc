package ipmasq.deploy.cluster;

import ipmasq.testkit.Eventually;
import ipmasq.testkit.Namespace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/**
 * etcd and the three programs of the control plane. The network is closed, so nobody proves who he
 * is but by a token: the servers sign their certificates themselves and clients take any.
 */
final class ControlPlane implements AutoCloseable {
  static final String ADDRESS = "172.30.0.1";
  private static final Duration UP = Duration.ofSeconds(90);

  private final Binaries binaries;
  private final Namespace host;
  private final Path folder;
  private final Path logs;
  private final List<Daemon> daemons = new ArrayList<>();

  ControlPlane(Binaries binaries, Namespace host, Path folder, Path logs) {
    this.binaries = binaries;
    this.host = host;
    this.folder = folder;
    this.logs = logs;
  }

  void start() throws Exception {
    // A dead node is noticed within half a minute.
    start(List.of(), List.of("--node-monitor-grace-period=30s"), List.of());
  }

  /** With further flags for the API server, the controller manager and the scheduler. */
  void start(List<String> server, List<String> manager, List<String> scheduler) throws Exception {
    var etcd = "http://127.0.0.1:2379";
    var peer = "http://127.0.0.1:2380";
    run(
        "etcd",
        List.of(),
        "--name=one",
        "--data-dir=" + folder.resolve("etcd"),
        "--listen-client-urls=" + etcd,
        "--advertise-client-urls=" + etcd,
        "--listen-peer-urls=" + peer,
        "--initial-advertise-peer-urls=" + peer,
        "--initial-cluster=one=" + peer,
        "--unsafe-no-fsync");
    keys();
    Files.writeString(
        folder.resolve("tokens.csv"),
        """
        admin-token,admin,u1,system:masters
        n1-token,system:node:n1,u2,system:nodes
        n2-token,system:node:n2,u3,system:nodes
        proxy-token,system:kube-proxy,u4,system:node-proxier
        viewer-token,viewer,u5,viewers
        operator-token,operator,u6,operators
        """);
    run(
        "kube-apiserver",
        server,
        "--etcd-servers=" + etcd,
        "--advertise-address=" + ADDRESS,
        "--cert-dir=" + folder.resolve("certificates"),
        "--token-auth-file=" + folder.resolve("tokens.csv"),
        "--authorization-mode=Node,RBAC",
        "--allow-privileged=true",
        "--enable-admission-plugins=NodeRestriction",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--service-account-key-file=" + folder.resolve("accounts.pub"),
        "--service-account-signing-key-file=" + folder.resolve("accounts.key"),
        "--service-account-issuer=https://kubernetes.default.svc",
        "--kubelet-preferred-address-types=InternalIP");
    var admin = kubeconfig("admin");
    var ready =
        new String[] {binaries.program("kubectl"), "--kubeconfig=" + admin, "get", "--raw=/readyz"};
    Eventually.within(
        UP, "the API server is ready", () -> host.run(ready), said -> said.exit() == 0);
    run(
        "kube-controller-manager",
        manager,
        "--kubeconfig=" + admin,
        "--service-account-private-key-file=" + folder.resolve("accounts.key"),
        "--root-ca-file=" + folder.resolve("certificates/apiserver.crt"),
        "--leader-elect=false");
    run("kube-scheduler", scheduler, "--kubeconfig=" + admin, "--leader-elect=false");
  }

  private void run(String program, List<String> further, String... arguments) throws IOException {
    var command = new ArrayList<>(List.of(binaries.program(program)));
    command.addAll(Arrays.asList(arguments));
    command.addAll(further);
    daemons.add(Daemon.start(program, logs, host.processBuilder(command.toArray(String[]::new))));
  }

  /** The keys that sign service accounts' tokens, as PEM. */
  private void keys() throws IOException {
    try {
      var pair = KeyPairGenerator.getInstance("RSA").generateKeyPair();
      pem("accounts.key", "PRIVATE KEY", pair.getPrivate().getEncoded());
      pem("accounts.pub", "PUBLIC KEY", pair.getPublic().getEncoded());
    } catch (NoSuchAlgorithmException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private void pem(String file, String what, byte[] key) throws IOException {
    var lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key);
    Files.writeString(
        folder.resolve(file),
        "-----BEGIN %1$s-----%n%2$s%n-----END %1$s-----%n".formatted(what, lines));
  }

  /** The process id of one of its programs. */
  long process(String program) {
    return daemons.stream()
        .filter(daemon -> daemon.name().equals(program))
        .findFirst()
        .orElseThrow()
        .process()
        .pid();
  }

  /** How this one reaches the API server. */
  Path kubeconfig(String who) throws IOException {
    return Files.writeString(
        folder.resolve(who + ".conf"),
        """
        apiVersion: v1
        kind: Config
        clusters: [{name: test, cluster: {server: "https://%s:6443", insecure-skip-tls-verify: true}}]
        users: [{name: %2$s, user: {token: %2$s-token}}]
        contexts: [{name: test, context: {cluster: test, user: %2$s}}]
        current-context: test
        """
            .formatted(ADDRESS, who));
  }

  @Override
  public void close() {
    daemons.reversed().forEach(Daemon::close);
    daemons.clear();
  }
}
