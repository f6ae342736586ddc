package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import com.marcnuri.helm.Helm;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1DaemonSet;
import io.kubernetes.client.openapi.models.V1ServiceAccount;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The chart, held to the manifest and its overlays: a pod that Helm starts is the pod that kubectl
 * starts.
 */
class HelmTest {
  private static final Helm CHART = new Helm(Project.file("deploy/helm/ip-masq-agent"));

  @Test
  void lints() {
    var result = CHART.lint().strict().call();
    assertFalse(result.isFailed(), () -> String.join("\n", result.getMessages()));
  }

  static Stream<Arguments> sameAsOverlay() {
    return Stream.of(
        Arguments.of("default", Map.of()),
        Arguments.of("nftables", Map.of("backend", "nftables")),
        Arguments.of("dual-stack", Map.of("enableIPv6", "true")),
        Arguments.of("legacy-iptables", Map.of("legacyIptables", "true")),
        Arguments.of(
            "prometheus", Map.of("listen.scope", "cluster", "prometheusAnnotations", "true")));
  }

  @ParameterizedTest
  @MethodSource
  void sameAsOverlay(String overlay, Map<String, String> values) throws Exception {
    var chart = template(values).only("DaemonSet");
    V1DaemonSet.validateJsonElement(chart);
    assertEquals(
        "",
        Objects.difference(
            Kustomize.render("deploy/overlays/" + overlay).only("DaemonSet").get("spec"),
            chart.get("spec")));
  }

  @Test
  void twoConfigMapsAreTheComponent(@TempDir Path folder) throws Exception {
    assertEquals(
        "",
        Objects.difference(
            Kustomize.combined(folder, List.of("two-configmaps")).get("spec"),
            template(Map.of("secondConfigMapName", "ip-masq-agent-more"))
                .only("DaemonSet")
                .get("spec")));
  }

  @Test
  void theLabelOfTheGuides(@TempDir Path folder) throws Exception {
    // Not by set(): it would make a boolean of the word.
    var values = folder.resolve("values.yaml");
    Files.writeString(
        values,
        """
        nodeSelector:
          beta.kubernetes.io/masq-agent-ds-ready: "true"
        """);
    var command = CHART.template().withNamespace("kube-system").withValuesFile(values);
    assertEquals(
        "",
        Objects.difference(
            Kustomize.render("deploy/overlays/node-label").only("DaemonSet").get("spec"),
            Objects.of(command.call()).only("DaemonSet").get("spec")));
  }

  @Test
  void everyFlagReachesTheCommandLine() throws Exception {
    var set =
        template(
                Map.of(
                    "masqChain", "MY-CHAIN",
                    "nomasqAllReservedRanges", "true",
                    "randomFully", "false",
                    "toPorts", "1024-29999",
                    "listen.scope", "none",
                    "extraArgs[0]", "--v=2"))
            .only("DaemonSet");
    assertTrue(
        set.toString()
            .contains(
                "\"args\":[\"--masq-chain=MY-CHAIN\",\"--nomasq-all-reserved-ranges\",\"--random-fully=false\","
                    + "\"--to-ports=1024-29999\",\"--v=2\"]"),
        set::toString);
    assertFalse(set.toString().contains("Probe"), set::toString);
  }

  @Test
  void configBecomesTheFile() throws Exception {
    var map =
        template(
                Map.of(
                    "config.resyncInterval", "30s", "config.nonMasqueradeCIDRs[0]", "10.0.0.0/8"))
            .only("ConfigMap");
    V1ConfigMap.validateJsonElement(map);
    assertEquals(
        """
        nonMasqueradeCIDRs:
        - 10.0.0.0/8
        resyncInterval: 30s
        """,
        map.getAsJsonObject("data").get("config").getAsString());
  }

  @Test
  void aPodMonitor() {
    var all = template(Map.of("podMonitor.enabled", "true", "listen.scope", "cluster"));
    assertEquals(2, all.all().size());
    all.only("PodMonitor");
  }

  @Test
  void anAccountOnlyWhereOneIsWanted() throws Exception {
    assertFalse(template(Map.of()).all().toString().contains("serviceAccountName"));
    var made = template(Map.of("serviceAccount.create", "true"));
    V1ServiceAccount.validateJsonElement(made.only("ServiceAccount"));
    assertTrue(pod(made).contains("\"serviceAccountName\":\"ip-masq-agent\""));
    var named = template(Map.of("serviceAccount.name", "mine"));
    assertEquals(1, named.all().size());
    assertTrue(pod(named).contains("\"serviceAccountName\":\"mine\""));
  }

  @Test
  void environmentAndPriority() {
    var pod =
        pod(
            template(
                Map.of(
                    "extraEnv[0].name", "TZ",
                    "extraEnv[0].value", "UTC",
                    "listen.scope", "cluster",
                    "priorityClassName", "mine")));
    assertTrue(pod.contains("{\"name\":\"TZ\",\"value\":\"UTC\"}"), pod);
    assertTrue(pod.contains("{\"name\":\"HOST_IP\","), pod);
    assertTrue(pod.contains("\"priorityClassName\":\"mine\""), pod);
  }

  @Test
  void theAlertsAreThoseOfTheFile() throws Exception {
    var file = Objects.of(Project.text("deploy/monitoring/alerts.yaml")).only("PrometheusRule");
    var plain = template(Map.of("prometheusRule.enabled", "true")).only("PrometheusRule");
    assertEquals("", Objects.difference(file.get("spec"), plain.get("spec")));
    var based =
        template(
                Map.of(
                    "prometheusRule.enabled", "true",
                    "prometheusRule.runbookBase", "https://git.example/agent/"))
            .only("PrometheusRule");
    assertTrue(
        based.toString().contains("\"https://git.example/agent/docs/troubleshooting.md#"),
        based::toString);
  }

  @Test
  void theDashboardIsTheOneOfTheFile() throws Exception {
    var map = template(Map.of("dashboard.enabled", "true")).only("ConfigMap");
    V1ConfigMap.validateJsonElement(map);
    assertEquals(
        JsonParser.parseString(Project.text("deploy/monitoring/grafana-dashboard.json")),
        JsonParser.parseString(
            map.getAsJsonObject("data").get("ip-masq-agent.json").getAsString()));
    assertTrue(map.toString().contains("\"grafana_dashboard\":\"1\""));
  }

  private static String pod(Objects rendered) {
    return rendered.only("DaemonSet").getAsJsonObject("spec").get("template").toString();
  }

  static Stream<Arguments> refused() {
    return Stream.of(
        Arguments.of(Map.of("backend", "ipvs"), "backend"),
        Arguments.of(Map.of("toPorts", "high"), "toPorts"),
        Arguments.of(Map.of("enableIpv6", "true"), "enableIpv6"),
        Arguments.of(Map.of("masqChain", "A-NAME-OF-TWENTY-NINE-LETTERS"), "masqChain"),
        Arguments.of(Map.of("config.cidrLimit", "many"), "cidrLimit"),
        Arguments.of(Map.of("podMonitor.enabled", "true"), "listen.scope=cluster"));
  }

  @ParameterizedTest
  @MethodSource
  void refused(Map<String, String> values, String named) {
    var error = assertThrows(RuntimeException.class, () -> template(values));
    assertTrue(error.getMessage().contains(named), error::getMessage);
  }

  private static Objects template(Map<String, String> values) {
    var command = CHART.template().withNamespace("kube-system");
    values.forEach(command::set);
    return Objects.of(command.call());
  }
}
