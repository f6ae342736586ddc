package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1DaemonSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The manifest that guides name, and what each overlay makes of it. */
class ManifestTest {
  @Test
  void theManifestAtTheRootIsTheBase() throws Exception {
    assertEquals(
        Project.text("deploy/base/ip-masq-agent.yaml"), Project.text("ip-masq-agent.yaml"));
  }

  @Test
  void namesAreThoseOfTheGuides() throws Exception {
    var set = Objects.of(Project.text("ip-masq-agent.yaml")).only("DaemonSet");
    var expected =
        JsonParser.parseString(
            """
            {"config": {"name": "config", "configMap": {"name": "ip-masq-agent", "optional": true,
              "items": [{"key": "config", "path": "ip-masq-agent"}]}}}""");
    var pod = set.getAsJsonObject("spec").getAsJsonObject("template").getAsJsonObject("spec");
    assertEquals(
        "",
        Objects.difference(
            expected.getAsJsonObject().get("config"), pod.getAsJsonArray("volumes").get(0)));
    assertEquals(
        "{\"name\":\"ip-masq-agent\",\"namespace\":\"kube-system\",\"labels\":{\"k8s-app\":\"ip-masq-agent\"}}",
        set.get("metadata").toString());
    assertTrue(pod.get("hostNetwork").getAsBoolean());
  }

  @Test
  void theConfigFolderHoldsNothingButTheFileThatBecomesTheKey() throws Exception {
    try (var files = Files.list(Project.file("agent-config"))) {
      assertEquals(List.of("config"), files.map(f -> f.getFileName().toString()).toList());
    }
  }

  static List<String> overlays() throws IOException {
    return folders("deploy/overlays");
  }

  @ParameterizedTest
  @MethodSource("overlays")
  void everyOverlayIsADaemonSetThatKubernetesKnows(String overlay) throws Exception {
    var rendered = Kustomize.render("deploy/overlays/" + overlay);
    assertEquals(overlay.equals("staged") ? 2 : 1, rendered.all().size());
    V1DaemonSet.validateJsonElement(rendered.only("DaemonSet"));
  }

  @Test
  void componentsCombineInAnyOrder(@TempDir Path folder) throws Exception {
    var components = new ArrayList<>(folders("deploy/components"));
    components.removeIf(component -> component.startsWith("staged"));
    combine(folder, components);
    components.add("staged-two-configmaps");
    components.remove("two-configmaps");
    combine(folder, components);
  }

  private static void combine(Path folder, List<String> components) throws Exception {
    var forwards = Kustomize.combined(folder, components);
    V1DaemonSet.validateJsonElement(forwards);
    assertEquals(sorted(forwards), sorted(Kustomize.combined(folder, components.reversed())));
    var text = forwards.toString();
    for (var part :
        List.of("--enable-ipv6", "--backend=nftables", "$(HOST_IP):10347", "NET_RAW", "-more")) {
      assertTrue(text.contains(part), part);
    }
  }

  /** The leaves without their places in lists: the order of flags does not matter. */
  private static List<String> sorted(JsonObject set) {
    return Objects.difference(new JsonObject(), set)
        .lines()
        .map(line -> line.replaceAll("/[0-9]+", "/*"))
        .sorted()
        .toList();
  }

  private static List<String> folders(String parent) throws IOException {
    try (var files = Files.list(Project.file(parent))) {
      return files.map(f -> f.getFileName().toString()).sorted().toList();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"base", "overlays/default"})
  void changesNothing(String folder) throws Exception {
    assertEquals("", changes(folder));
  }

  @Test
  void nodeLabel() throws Exception {
    assertEquals(
        """
        + /spec/template/spec/nodeSelector/beta.kubernetes.io/masq-agent-ds-ready = true
        """,
        changes("overlays/node-label"));
  }

  @Test
  void dualStack() throws Exception {
    assertEquals(
        """
        + /spec/template/spec/containers/0/args/1 = --enable-ipv6
        """,
        changes("overlays/dual-stack"));
  }

  @Test
  void legacyIptables() throws Exception {
    assertEquals(
        """
        + /spec/template/spec/containers/0/securityContext/capabilities/add/1 = NET_RAW
        """,
        changes("overlays/legacy-iptables"));
  }

  @Test
  void nftables() throws Exception {
    assertEquals(
        """
        - /spec/template/spec/containers/0/volumeMounts/1/mountPath = /run/xtables.lock
        - /spec/template/spec/containers/0/volumeMounts/1/name = xtables-lock
        - /spec/template/spec/volumes/1/hostPath/path = /run/xtables.lock
        - /spec/template/spec/volumes/1/hostPath/type = FileOrCreate
        - /spec/template/spec/volumes/1/name = xtables-lock
        + /spec/template/spec/containers/0/args/1 = --backend=nftables
        """,
        changes("overlays/nftables"));
  }

  @Test
  void prometheus() throws Exception {
    assertEquals(
        """
        - /spec/template/spec/containers/0/args/0 = --listen=127.0.0.1:10347
        - /spec/template/spec/containers/0/livenessProbe/httpGet/host = 127.0.0.1
        - /spec/template/spec/containers/0/ports/0/hostIP = 127.0.0.1
        - /spec/template/spec/containers/0/readinessProbe/httpGet/host = 127.0.0.1
        - /spec/template/spec/containers/0/startupProbe/httpGet/host = 127.0.0.1
        + /spec/template/metadata/annotations/prometheus.io/path = /metrics
        + /spec/template/metadata/annotations/prometheus.io/port = 10347
        + /spec/template/metadata/annotations/prometheus.io/scrape = true
        + /spec/template/spec/containers/0/args/0 = --listen=$(HOST_IP):10347
        + /spec/template/spec/containers/0/env/0/name = HOST_IP
        + /spec/template/spec/containers/0/env/0/valueFrom/fieldRef/fieldPath = status.hostIP
        """,
        changes("overlays/prometheus"));
  }

  @Test
  void twoConfigMaps(@TempDir Path folder) throws Exception {
    assertEquals(
        """
        - /spec/template/spec/volumes/0/configMap/items/0/key = config
        - /spec/template/spec/volumes/0/configMap/items/0/path = ip-masq-agent
        - /spec/template/spec/volumes/0/configMap/name = ip-masq-agent
        - /spec/template/spec/volumes/0/configMap/optional = true
        + /spec/template/spec/containers/0/args/1 = --config=/etc/config
        + /spec/template/spec/volumes/0/projected/sources/0/configMap/items/0/key = config
        + /spec/template/spec/volumes/0/projected/sources/0/configMap/items/0/path = ip-masq-agent
        + /spec/template/spec/volumes/0/projected/sources/0/configMap/name = ip-masq-agent
        + /spec/template/spec/volumes/0/projected/sources/0/configMap/optional = true
        + /spec/template/spec/volumes/0/projected/sources/1/configMap/items/0/key = config
        + /spec/template/spec/volumes/0/projected/sources/1/configMap/items/0/path = ip-masq-agent-more
        + /spec/template/spec/volumes/0/projected/sources/1/configMap/name = ip-masq-agent-more
        + /spec/template/spec/volumes/0/projected/sources/1/configMap/optional = true
        """,
        Objects.difference(
            Objects.of(Project.text("ip-masq-agent.yaml")).only("DaemonSet"),
            Kustomize.combined(folder, List.of("two-configmaps"))));
  }

  @Test
  void staged() throws Exception {
    var map = Kustomize.render("deploy/overlays/staged").only("ConfigMap");
    V1ConfigMap.validateJsonElement(map);
    var name = map.getAsJsonObject("metadata").get("name").getAsString();
    assertTrue(name.matches("ip-masq-agent-[0-9a-z]{10}"), name);
    assertTrue(map.get("immutable").getAsBoolean());
    assertEquals(
        """
        - /spec/template/spec/volumes/0/configMap/name = ip-masq-agent
        - /spec/template/spec/volumes/0/configMap/optional = true
        + /spec/minReadySeconds = 30
        + /spec/template/spec/containers/0/args/1 = --strict
        + /spec/template/spec/containers/0/volumeMounts/2/mountPath = /var/lib/ip-masq-agent
        + /spec/template/spec/containers/0/volumeMounts/2/name = state
        + /spec/template/spec/volumes/0/configMap/name = %s
        + /spec/template/spec/volumes/2/hostPath/path = /var/lib/ip-masq-agent
        + /spec/template/spec/volumes/2/hostPath/type = DirectoryOrCreate
        + /spec/template/spec/volumes/2/name = state
        """
            .formatted(name),
        changes("overlays/staged"));
  }

  @Test
  void bothOfTwoStagedConfigMapsAreNamedAfterTheirContent(@TempDir Path folder) throws Exception {
    var set = Kustomize.combined(folder, List.of("staged-two-configmaps")).toString();
    for (var name : List.of("ip-masq-agent", "ip-masq-agent-more")) {
      assertTrue(
          Pattern.compile("\"name\":\"" + name + "-[0-9a-z]{10}\"").matcher(set).find(), set);
    }
    assertFalse(set.contains("optional"), set);
  }

  @Test
  void stagedNeedsAConfig(@TempDir Path folder) throws Exception {
    var error =
        assertThrows(
            AssertionError.class, () -> Kustomize.combined(folder, List.of("staged"), List.of()));
    assertTrue(error.getMessage().contains("ConfigMap"), error::getMessage);
  }

  private static String changes(String folder) throws Exception {
    return Objects.difference(
        Objects.of(Project.text("ip-masq-agent.yaml")).only("DaemonSet"),
        Kustomize.render("deploy/" + folder).only("DaemonSet"));
  }
}
