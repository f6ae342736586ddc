package ipmasq.deploy.cluster;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import ipmasq.deploy.Project;
import ipmasq.testkit.Namespace;
import ipmasq.testkit.NetworkNamespace;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * A real control plane whose nodes exist on paper: this class plays their kubelets. It says of each
 * pod that it is ready or not, a second after it was bound, and lets go of pods that are deleted.
 * No agent runs and no packet flows. Thread-safe.
 */
final class Fleet implements AutoCloseable {
  private static final String SERVER = "https://" + ControlPlane.ADDRESS + ":6443";
  private static final Duration START = Duration.ofSeconds(1);

  private final Path work;
  private final Namespace control;
  private final ControlPlane plane;
  private final Terminal terminal;
  private final HttpClient http;
  private final ScheduledExecutorService kubelets;
  private final Set<String> dead = ConcurrentHashMap.newKeySet();
  private final AtomicReference<BiPredicate<String, String>> gets =
      new AtomicReference<>((node, config) -> true);
  private final Set<String> deletions = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;
  private int seen;

  /** When kubelets last did this; what the plugin takes beyond is its own. */
  private final AtomicReference<Instant> lastReady = new AtomicReference<>(Instant.EPOCH);

  Fleet(Binaries binaries, int nodes, Path logs, Transcript transcript) throws Exception {
    work = Files.createTempDirectory("ipmq-cluster-");
    Files.createDirectories(logs);
    transcript.hide(work.toString());
    control = Namespace.open("fleet");
    control.ip("addr add " + ControlPlane.ADDRESS + "/32 dev lo");
    var policy = work.resolve("audit.yaml");
    Files.writeString(
        policy,
        """
        apiVersion: audit.k8s.io/v1
        kind: Policy
        omitStages: [RequestReceived]
        rules: [{level: Metadata, users: [operator, viewer]}]
        """);
    plane = new ControlPlane(binaries, control, work, logs);
    var fast = List.of("--kube-api-qps=500", "--kube-api-burst=1000");
    plane.start(
        List.of("--audit-policy-file=" + policy, "--audit-log-path=" + work.resolve("audit.log")),
        // The test says which nodes are dead.
        List.of("--node-monitor-grace-period=24h", fast.getFirst(), fast.getLast()),
        fast);
    var bin = Files.createDirectory(work.resolve("bin"));
    Files.writeString(bin.resolve("kubectl"), WRAPPER.formatted(binaries.program("kubectl")));
    bin.resolve("kubectl").toFile().setExecutable(true);
    var operator = plane.kubeconfig("operator");
    terminal =
        new Terminal(
            control::processBuilder,
            builder -> {
              builder.environment().put("KUBECONFIG", operator.toString());
              builder
                  .environment()
                  .put("PATH", bin + ":" + binaries.path() + ":" + Project.file("deploy"));
              return builder;
            },
            transcript);
    kubelets =
        Executors.newScheduledThreadPool(
            8, task -> Thread.ofPlatform().daemon().unstarted(in(task)));
    http =
        control.call(
            () ->
                HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .sslContext(trusting())
                    .executor(
                        Executors.newCachedThreadPool(
                            task -> Thread.ofPlatform().daemon().unstarted(in(task))))
                    .build());
    Runtime.getRuntime().addShutdownHook(new Thread(plane::close));
    for (int i = 1; i <= nodes; i++) {
      join("n" + i);
    }
    Thread.ofPlatform().daemon().start(in(this::watch));
  }

  /** Agents are asked by exec, which needs a kubelet: here a script answers. */
  private static final String WRAPPER =
      """
      #!/bin/sh
      case " $* " in *" exec "*) ;; *) exec %s "$@" ;; esac
      while [ "$1" != ip-masq-agent ]; do shift; done
      case $2 in
        check) sha256sum | sed 's/^/-: good: sha256 /; s/ *-$//' ;;
        plan) cat > /dev/null; echo "1 to add, 0 to remove, 0 to repair (played)" ;;
        status) printf 'Not ready: played.\\n\\nFlows    12 of pods, as configured\\n' ;;
      esac
      """;

  private Runnable in(Runnable task) {
    return () -> {
      try {
        NetworkNamespace.enter(control.name());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      task.run();
    };
  }

  /** The process id of a program of the control plane. */
  long process(String program) {
    return plane.process(program);
  }

  Terminal terminal() {
    return terminal;
  }

  /** Which config a node's agent is ready with. */
  void ready(BiPredicate<String, String> ready) {
    gets.set(ready);
  }

  Instant lastReady() {
    return lastReady.get();
  }

  /** How many pods were deleted since this was asked last. */
  int deletions() {
    int count = deletions.size();
    deletions.clear();
    return count;
  }

  /** Calls to the API by people since this was asked last. Used by one thread. */
  List<String> calls() throws IOException {
    var lines = Files.readAllLines(work.resolve("audit.log"));
    var calls = new ArrayList<String>();
    for (var line : lines.subList(seen, lines.size())) {
      var event = JsonParser.parseString(line).getAsJsonObject();
      var about = event.getAsJsonObject("objectRef");
      var resource = about == null ? "discovery" : about.get("resource").getAsString();
      calls.add(event.get("verb").getAsString() + " " + resource);
    }
    seen = lines.size();
    return calls;
  }

  /** The node is gone, or back. */
  void dead(String node, boolean gone) throws Exception {
    var status = gone ? "Unknown" : "True";
    if (gone) {
      dead.add(node);
    } else {
      dead.remove(node);
    }
    patch("/api/v1/nodes/" + node + "/status", readyCondition(status));
    for (var pod : list()) {
      if (node.equals(nodeOf(pod))) {
        if (gone) {
          patch(path(pod) + "/status", readyCondition("False"));
        } else {
          kubelet(pod);
        }
      }
    }
  }

  private static String readyCondition(String status) {
    var now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    return """
    {"status":{"conditions":[{"type":"Ready","status":"%s","reason":"Played","message":"played",\
    "lastTransitionTime":"%s"}]}}\
    """
        .formatted(status, now);
  }

  private void join(String node) throws Exception {
    send(
        "POST",
        "/api/v1/nodes",
        "application/json",
        """
        {"apiVersion":"v1","kind":"Node","metadata":{"name":"%s","labels":{"kubernetes.io/os":"linux",\
        "kubernetes.io/hostname":"%1$s"}}}\
        """
            .formatted(node));
    patch(
        "/api/v1/nodes/" + node + "/status",
        """
        {"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"},\
        "capacity":{"cpu":"4","memory":"8Gi","pods":"110"}}}\
        """);
    patch("/api/v1/nodes/" + node + "/status", readyCondition("True"));
  }

  private void watch() {
    while (!closed) {
      try {
        var listed = JsonParser.parseString(send("GET", "/api/v1/pods", "", "")).getAsJsonObject();
        listed.getAsJsonArray("items").forEach(pod -> kubelet(pod.getAsJsonObject()));
        var version = listed.getAsJsonObject("metadata").get("resourceVersion").getAsString();
        var request =
            request("/api/v1/pods?watch=1&timeoutSeconds=60&resourceVersion=" + version).build();
        var events = http.send(request, BodyHandlers.ofInputStream()).body();
        try (var lines =
            new BufferedReader(new InputStreamReader(events, StandardCharsets.UTF_8))) {
          for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            var event = JsonParser.parseString(line).getAsJsonObject();
            if (!event.get("type").getAsString().equals("DELETED")) {
              kubelet(event.getAsJsonObject("object"));
            }
          }
        }
      } catch (IOException | RejectedExecutionException ended) {
        // Listed again, or closed.
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  /** What the node's kubelet does about a pod. */
  private void kubelet(JsonObject pod) {
    var node = nodeOf(pod);
    if (closed || node.isEmpty() || dead.contains(node)) {
      return;
    }
    if (pod.getAsJsonObject("metadata").has("deletionTimestamp")) {
      if (deletions.add(path(pod))) {
        kubelets.execute(() -> attempt("DELETE", pod, "", "{\"gracePeriodSeconds\":0}"));
      }
      return;
    }
    boolean ready = gets.get().test(node, config(pod));
    if (!state(pod).equals(ready ? "True" : "False")) {
      var _ =
          kubelets.schedule(
              () -> {
                attempt("PATCH", pod, "/status", running(pod, ready));
                lastReady.set(Instant.now());
              },
              START.toMillis(),
              TimeUnit.MILLISECONDS);
    }
  }

  private static String running(JsonObject pod, boolean ready) {
    var container = pod.getAsJsonObject("spec").getAsJsonArray("containers").get(0);
    var now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    return """
    {"status":{"phase":"Running","startTime":"%1$s","containerStatuses":[{"name":%2$s,"image":%3$s,\
    "imageID":"played","ready":%4$s,"started":true,"restartCount":0,"state":{"running":{"startedAt":"%1$s"}}}],\
    "conditions":[{"type":"Ready","status":"%5$s","lastTransitionTime":"%1$s"}]}}\
    """
        .formatted(
            now,
            container.getAsJsonObject().get("name"),
            container.getAsJsonObject().get("image"),
            ready,
            ready ? "True" : "False");
  }

  private static String state(JsonObject pod) {
    var conditions = pod.getAsJsonObject("status").getAsJsonArray("conditions");
    for (var condition : conditions == null ? new JsonArray() : conditions) {
      if (condition.getAsJsonObject().get("type").getAsString().equals("Ready")) {
        return condition.getAsJsonObject().get("status").getAsString();
      }
    }
    return "";
  }

  private static String nodeOf(JsonObject pod) {
    var node = pod.getAsJsonObject("spec").get("nodeName");
    return node == null ? "" : node.getAsString();
  }

  private static String config(JsonObject pod) {
    for (var volume : pod.getAsJsonObject("spec").getAsJsonArray("volumes")) {
      var map = volume.getAsJsonObject().getAsJsonObject("configMap");
      if (map != null) {
        return map.get("name").getAsString();
      }
    }
    return "";
  }

  private static String path(JsonObject pod) {
    var metadata = pod.getAsJsonObject("metadata");
    return "/api/v1/namespaces/%s/pods/%s"
        .formatted(metadata.get("namespace").getAsString(), metadata.get("name").getAsString());
  }

  private List<JsonObject> list() throws Exception {
    return JsonParser.parseString(send("GET", "/api/v1/pods", "", ""))
        .getAsJsonObject()
        .getAsJsonArray("items")
        .asList()
        .stream()
        .map(item -> item.getAsJsonObject())
        .toList();
  }

  private void attempt(String method, JsonObject pod, String below, String body) {
    try {
      send(method, path(pod) + below, type(method), body);
    } catch (IOException | RuntimeException gone) {
      // The next event tells.
    }
  }

  private static String type(String method) {
    return method.equals("PATCH") ? "application/strategic-merge-patch+json" : "application/json";
  }

  private void patch(String path, String body) throws Exception {
    send("PATCH", path, type("PATCH"), body);
  }

  /** From a thread in the namespace, whoever calls: elsewhere this address may be anybody's. */
  private String send(String method, String path, String type, String body) throws IOException {
    return control.call(() -> exchange(method, path, type, body));
  }

  private String exchange(String method, String path, String type, String body) throws IOException {
    var request =
        method.equals("GET")
            ? request(path)
            : request(path)
                .method(method, BodyPublishers.ofString(body))
                .header("Content-Type", type);
    var answer = http.sendAsync(request.build(), BodyHandlers.ofString()).join();
    if (answer.statusCode() >= 400 || answer.body().isEmpty()) {
      throw new IOException(method + " " + path + ": " + answer.statusCode() + answer.body());
    }
    return answer.body();
  }

  private static HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(SERVER + path))
        .header("Authorization", "Bearer admin-token");
  }

  /** The network is closed, and the server signs its certificate itself. */
  private static SSLContext trusting() {
    try {
      var context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[] {new TrustAll()}, new SecureRandom());
      return context;
    } catch (GeneralSecurityException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private static final class TrustAll extends X509ExtendedTrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }

  @Override
  public void close() throws IOException {
    closed = true;
    kubelets.shutdownNow();
    http.shutdownNow();
    plane.close();
    control.close();
    try (var found = Files.walk(work)) {
      for (var path : found.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
