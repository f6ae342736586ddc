package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import io.kubernetes.client.openapi.models.V1DaemonSet;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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

  @ParameterizedTest
  @ValueSource(
      strings = {
        "default",
        "node-label",
        "nftables",
        "dual-stack",
        "prometheus",
        "legacy-iptables"
      })
  void everyOverlayIsADaemonSetThatKubernetesKnows(String overlay) throws Exception {
    var rendered = Kustomize.render("deploy/overlays/" + overlay);
    assertEquals(1, rendered.all().size());
    V1DaemonSet.validateJsonElement(rendered.only("DaemonSet"));
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
        + /spec/template/metadata/annotations/prometheus.io/path = /metrics
        + /spec/template/metadata/annotations/prometheus.io/port = 10347
        + /spec/template/metadata/annotations/prometheus.io/scrape = true
        + /spec/template/spec/containers/0/args/0 = --listen=$(HOST_IP):10347
        + /spec/template/spec/containers/0/env/0/name = HOST_IP
        + /spec/template/spec/containers/0/env/0/valueFrom/fieldRef/fieldPath = status.hostIP
        """,
        changes("overlays/prometheus"));
  }

  private static String changes(String folder) throws Exception {
    return Objects.difference(
        Objects.of(Project.text("ip-masq-agent.yaml")).only("DaemonSet"),
        Kustomize.render("deploy/" + folder).only("DaemonSet"));
  }
}
