package ipmasq.deploy;

import static ipmasq.deploy.Podman.podman;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import ipmasq.testkit.ConfigVolume;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Namespace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The image as users run it, by the manifest's own words, in a namespace instead of on a node. */
@KernelTest
class ContainerTest {
  private static final String NAME = "ipmq-container-" + ProcessHandle.current().pid();
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static Podman.Loaded loaded;
  private static String image = "";

  @BeforeAll
  static void load() throws Exception {
    loaded = Podman.load();
    image = loaded.id();
  }

  @AfterAll
  static void forget() throws Exception {
    if (!image.isEmpty()) {
      podman("rmi", "--force", image);
    }
  }

  @Test
  void itsNameIsTheOneThatAKubeletAsksFor() throws Exception {
    assertEquals("docker.io/library/ip-masq-agent:" + Project.version(), loaded.name());
    assertEquals(
        loaded.name(), "docker.io/library/" + container().get("image").getAsString(), "manifest");
  }

  /** By the Containerfile another engine makes the same of it. */
  @Test
  void podmanBuildsTheSame() throws Exception {
    var platform = BuiltImage.last().platforms().getFirst();
    var labels = platform.config().getAsJsonObject("config").getAsJsonObject("Labels");
    var id =
        podman(
                "build",
                "--quiet",
                "--layers",
                "--timestamp=" + Instant.parse(created(platform)).getEpochSecond(),
                "--build-arg=VERSION=" + Project.version(),
                "--build-arg=REVISION="
                    + labels.get("org.opencontainers.image.revision").getAsString(),
                "--platform=linux/" + platform.architecture(),
                "--file=" + Project.file("container/Containerfile"),
                Project.file("dist/image/" + platform.architecture()).toString())
            .ok();
    try {
      var ours = platform.config().getAsJsonObject("config");
      for (var key : List.of("User", "Env", "Entrypoint", "WorkingDir", "StopSignal")) {
        assertEquals(ours.get(key), inspect(id, ".Config." + key), key);
      }
      assertEquals(
          platform.config().getAsJsonObject("rootfs").get("diff_ids"),
          inspect(id, ".RootFS.Layers"));
    } finally {
      podman("rmi", "--force", id);
    }
  }

  private static String created(BuiltImage.Platform platform) {
    return platform.config().get("created").getAsString();
  }

  private static JsonElement inspect(String id, String what) throws Exception {
    return JsonParser.parseString(
        podman("image", "inspect", "--format={{json " + what + "}}", id).ok());
  }

  @Test
  void theImageHoldsAShellForTheLauncherAndNoProgramsForIt() throws Exception {
    var said = shell("for d in /usr/bin /usr/lib/ip-masq-agent/bin; do echo $d/*; done");
    assertEquals("/usr/bin/dash /usr/bin/sh\n/usr/lib/ip-masq-agent/bin/ip-masq-agent", said.ok());
    var others = shell("for f in /usr/sbin/*; do echo ${f##*/}; done").ok().lines().toList();
    for (var program : others) {
      assertTrue(program.matches("(ip6?tables|xtables)(-.*)?"), program);
    }
  }

  private static Podman.Said shell(String script) throws Exception {
    return podman("run", "--rm", "--network=none", "--entrypoint=/bin/sh", image, "-c", script);
  }

  @Test
  void runsWithTheManifestsSecurityContext(@TempDir Path folder) throws Exception {
    try (var node = Namespace.open("node");
        var config = new ConfigVolume()) {
      node.ip("link set lo up");
      config.publish("nonMasqueradeCIDRs: [10.1.0.0/16]\nresyncInterval: 60s\n");
      var command = command(node, config, folder);
      try {
        podman(command.toArray(String[]::new)).ok();
        awaitRule(node, "-d 10.1.0.0/16");
        var pid = podman("inspect", "--format={{.State.Pid}}", NAME).ok();
        var status = Files.readString(Path.of("/proc", pid, "status"));
        // NET_ADMIN is bit 12, and nothing else is there; a seccomp filter is in force.
        assertTrue(status.contains("CapEff:\t0000000000001000\n"), status);
        assertTrue(status.contains("CapBnd:\t0000000000001000\n"), status);
        assertTrue(status.contains("NoNewPrivs:\t1\n"), status);
        assertTrue(status.contains("Seccomp:\t2\n"), status);

        assertTrue(exec("status").ok().contains("10.1.0.0/16"), exec("status").text());
        assertTrue(exec("--version").ok().startsWith("ip-masq-agent " + Project.version()));

        config.publish("nonMasqueradeCIDRs: [10.2.0.0/16]\nresyncInterval: 60s\n");
        awaitRule(node, "-d 10.2.0.0/16");

        podman("kill", "--signal=TERM", NAME).ok();
        podman("wait", NAME).ok();
        assertEquals("0", podman("inspect", "--format={{.State.ExitCode}}", NAME).ok());
        assertTrue(node.iptablesSave("nat").contains("-d 10.2.0.0/16"), "the rules stay");
      } catch (AssertionError e) {
        throw new AssertionError(e.getMessage() + "\n" + podman("logs", NAME).text(), e);
      } finally {
        podman("rm", "--force", "--time=1", NAME);
      }
    }
  }

  /** Within the manifest's memory limit. */
  @Test
  void anAgentWithManyRangesLeavesRoomForADiagnosticCommand(@TempDir Path folder) throws Exception {
    try (var node = Namespace.open("node");
        var config = new ConfigVolume()) {
      node.ip("link set lo up");
      var many = new StringBuilder("backend: nftables\nnonMasqueradeCIDRs:\n");
      for (int i = 0; i < 100_000; i++) {
        many.append("- 2001:db8:%x:%x::/64\n".formatted(i >> 8, i & 0xff));
      }
      config.publish("enableIPv6: true\n" + many);
      try {
        podman(command(node, config, folder).toArray(String[]::new)).ok();
        Eventually.within(
            PATIENCE, "ready", () -> exec("status").text(), said -> said.contains("in force"));
        for (var words : List.of("plan", "status", "config", "explain 2001:db8:1:1::1")) {
          exec(words.split(" ")).ok();
        }
        assertEquals(
            "false true 0",
            podman(
                    "inspect",
                    "--format={{.State.OOMKilled}} {{.State.Running}} {{.RestartCount}}",
                    NAME)
                .ok());
      } finally {
        podman("rm", "--force", "--time=1", NAME);
      }
    }
  }

  /** Runs the image as the manifest says. */
  private static List<String> command(Namespace node, ConfigVolume config, Path folder)
      throws Exception {
    var lock = Files.createFile(folder.resolve("xtables.lock"));
    var command = new ArrayList<>(List.of("run", "--detach", "--name=" + NAME));
    command.addAll(flags(container()));
    command.add("--network=ns:/run/netns/" + node.name());
    command.add("--volume=" + config.directory() + ":/etc/config:ro");
    command.add("--volume=" + lock + ":/run/xtables.lock");
    command.add(image);
    container().getAsJsonArray("args").forEach(a -> command.add(a.getAsString()));
    return command;
  }

  @Test
  void playsAsAPod(@TempDir Path folder) throws Exception {
    try (var node = Namespace.open("node")) {
      node.ip("link set lo up");
      var map =
          """
          apiVersion: v1
          kind: ConfigMap
          metadata:
            name: ip-masq-agent
          data:
            config: |
              nonMasqueradeCIDRs: [10.3.0.0/16]
          """;
      try (var pod = PlayedPod.of(daemonSet(), image, node, folder, map)) {
        try {
          awaitRule(node, "-d 10.3.0.0/16");
        } catch (AssertionError e) {
          throw new AssertionError(e.getMessage() + "\n" + pod.log("ip-masq-agent"), e);
        }
      }
    }
  }

  private static void awaitRule(Namespace node, String rule) {
    Eventually.within(PATIENCE, rule, () -> node.iptablesSave("nat"), s -> s.contains(rule));
  }

  /** As {@code kubectl exec POD -- ip-masq-agent …}. */
  private static Podman.Said exec(String... arguments) throws Exception {
    var command = new ArrayList<>(List.of("exec", NAME, "ip-masq-agent"));
    command.addAll(List.of(arguments));
    return podman(command.toArray(String[]::new));
  }

  private static JsonObject daemonSet() throws Exception {
    return Objects.of(Project.text("ip-masq-agent.yaml")).only("DaemonSet");
  }

  private static JsonObject container() throws Exception {
    return daemonSet()
        .getAsJsonObject("spec")
        .getAsJsonObject("template")
        .getAsJsonObject("spec")
        .getAsJsonArray("containers")
        .get(0)
        .getAsJsonObject();
  }

  /**
   * The manifest's securityContext and memory limit in the engine's words; an unknown key is an
   * error.
   */
  private static List<String> flags(JsonObject container) {
    var flags = new ArrayList<String>();
    var context = container.getAsJsonObject("securityContext");
    var user = context.get("runAsUser").getAsInt() + ":" + context.get("runAsGroup").getAsInt();
    for (var entry : context.entrySet()) {
      switch (entry.getKey()) {
        case "privileged" -> flags.add("--privileged=" + entry.getValue().getAsBoolean());
        case "allowPrivilegeEscalation" -> {
          if (!entry.getValue().getAsBoolean()) {
            flags.add("--security-opt=no-new-privileges");
          }
        }
        case "readOnlyRootFilesystem" -> {
          flags.add("--read-only=" + entry.getValue().getAsBoolean());
          flags.add("--read-only-tmpfs=false");
        }
        case "runAsUser" -> flags.add("--user=" + user);
        case "runAsGroup" -> {}
        // The engine's default profile is in force unless it is told otherwise.
        case "seccompProfile" ->
            assertEquals("{\"type\":\"RuntimeDefault\"}", entry.getValue().toString());
        case "capabilities" -> {
          var capabilities = entry.getValue().getAsJsonObject();
          capabilities
              .getAsJsonArray("drop")
              .forEach(c -> flags.add("--cap-drop=" + c.getAsString()));
          capabilities
              .getAsJsonArray("add")
              .forEach(c -> flags.add("--cap-add=" + c.getAsString()));
        }
        default ->
            throw new AssertionError("what is " + entry.getKey() + " in the engine's words?");
      }
    }
    var memory =
        container
            .getAsJsonObject("resources")
            .getAsJsonObject("limits")
            .get("memory")
            .getAsString();
    flags.add("--memory=" + memory.replace("Mi", "m"));
    return flags;
  }
}
