package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.marcnuri.helm.Helm;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1DaemonSet;
import io.kubernetes.client.openapi.models.V1Job;
import io.kubernetes.client.openapi.models.V1Role;
import io.kubernetes.client.openapi.models.V1RoleBinding;
import io.kubernetes.client.openapi.models.V1ServiceAccount;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
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

  @Test
  void packages(@TempDir Path folder) throws Exception {
    CHART.packageIt().withDestination(folder).call();
    var archive = folder.resolve("ip-masq-agent-" + Project.text("VERSION").strip() + ".tgz");
    var packed = new Helm(archive).template().withNamespace("kube-system").call();
    assertEquals(
        "",
        Objects.difference(
            template(Map.of()).only("DaemonSet"), Objects.of(packed).only("DaemonSet")));
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

  private static final Map<String, String> STAGED =
      Map.of("staged.enabled", "true", "config.nonMasqueradeCIDRs[0]", "10.0.0.0/8");

  @Test
  void stagedIsTheComponentUnderTheNameOfItsContent() throws Exception {
    var chart = template(STAGED);
    var map = chart.only("ConfigMap");
    var file = map.getAsJsonObject("data").get("config").getAsString();
    var name = "ip-masq-agent-" + sha256(file).substring(0, 8);
    assertEquals(name, map.getAsJsonObject("metadata").get("name").getAsString());
    var overlay = Kustomize.render("deploy/overlays/staged");
    assertEquals(
        overlay.only("ConfigMap").getAsJsonObject("metadata").get("annotations"),
        map.getAsJsonObject("metadata").get("annotations"));
    assertTrue(map.get("immutable").getAsBoolean());
    assertEquals(leaves(overlay.only("DaemonSet")), leaves(chart.only("DaemonSet")));
  }

  /** Without the two names that differ by design: kustomize hashes in its own way. */
  private static String leaves(JsonObject set) {
    return Objects.difference(new JsonObject(), set.get("spec"))
        .replaceAll("ip-masq-agent-[0-9a-z]{8,10}\\b", "NAME");
  }

  @Test
  void anotherNameLeavesTheSelector() {
    var chart = template(Map.of("nameOverride", "mine", "serviceAccount.create", "true"));
    var set = chart.only("DaemonSet");
    assertEquals("mine", set.getAsJsonObject("metadata").get("name").getAsString());
    assertEquals(
        "{\"matchLabels\":{\"k8s-app\":\"ip-masq-agent\"}}",
        set.getAsJsonObject("spec").get("selector").toString());
    assertTrue(pod(chart).contains("\"serviceAccountName\":\"mine\""));
  }

  /** Helm's library leaves hooks out of what it prints, so this one is printed as no hook. */
  @Test
  void theCleanupHook(@TempDir Path folder) throws Exception {
    var chart = Project.file("deploy/helm/ip-masq-agent");
    try (var files = Files.walk(chart)) {
      for (var file : files.toList()) {
        Files.copy(
            file,
            folder.resolve(chart.relativize(file).toString()),
            StandardCopyOption.REPLACE_EXISTING);
      }
    }
    var hook = folder.resolve("templates/cleanup-hook.yaml");
    Files.writeString(hook, Files.readString(hook).replace("helm.sh/hook\"", "no\""));
    var command = new Helm(folder).template().withNamespace("kube-system");
    command.set("cleanupHook.enabled", "true").set("cleanupHook.image", "kubectl:1");
    var rendered = Objects.of(command.call());
    V1Job.validateJsonElement(rendered.only("Job"));
    V1Role.validateJsonElement(rendered.only("Role"));
    V1RoleBinding.validateJsonElement(rendered.only("RoleBinding"));
    var script = rendered.only("Job").toString();
    assertTrue(script.contains("patch daemonset ip-masq-agent --patch '{"), script);
    assertTrue(script.contains("[\\\"cleanup\\\",\\\"--hold\\\"]"), script);
  }

  @Test
  void everyKeyOfTheFileIsKnown() throws Exception {
    var known = keys("deploy/helm/ip-masq-agent/values.schema.json", "config");
    assertTrue(known.containsAll(keys("docs/ip-masq-agent.schema.json")), known::toString);
  }

  private static Set<String> keys(String schema, String... path) throws Exception {
    var at = JsonParser.parseString(Project.text(schema)).getAsJsonObject();
    for (var step : path) {
      at = at.getAsJsonObject("properties").getAsJsonObject(step);
    }
    return at.getAsJsonObject("properties").keySet();
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
                    "dryRun", "true",
                    "logFormat", "json",
                    "watchInterval", "5s",
                    "extraArgs[0]", "--v=2"))
            .only("DaemonSet");
    assertTrue(
        set.toString()
            .contains(
                "\"args\":[\"--masq-chain=MY-CHAIN\",\"--nomasq-all-reserved-ranges\",\"--random-fully=false\","
                    + "\"--to-ports=1024-29999\",\"--dry-run\",\"--log-format=json\","
                    + "\"--watch-interval=5s\",\"--v=2\"]"),
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
        Arguments.of(Map.of("config.nonMasqueradeCIDR[0]", "10.0.0.0/8"), "nonMasqueradeCIDR"),
        Arguments.of(Map.of("config.backend", "nftables"), "set the chart's value backend"),
        Arguments.of(Map.of("staged.enabled", "true"), "needs the config"),
        Arguments.of(plus(STAGED, "secondConfigMapName", "more"), "staged-two-configmaps"),
        Arguments.of(Map.of("cleanupHook.enabled", "true"), "cleanupHook.image"),
        Arguments.of(Map.of("nameOverride", "My_Agent"), "nameOverride"),
        Arguments.of(Map.of("podMonitor.enabled", "true"), "listen.scope=cluster"));
  }

  @ParameterizedTest
  @MethodSource
  void refused(Map<String, String> values, String named) {
    var error = assertThrows(RuntimeException.class, () -> template(values));
    assertTrue(error.getMessage().contains(named), error::getMessage);
  }

  private static Map<String, String> plus(Map<String, String> values, String key, String value) {
    var all = new TreeMap<>(values);
    all.put(key, value);
    return all;
  }

  private static String sha256(String text) throws Exception {
    var hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    return HexFormat.of().formatHex(hash);
  }

  private static Objects template(Map<String, String> values) {
    var command = CHART.template().withNamespace("kube-system");
    values.forEach(command::set);
    return Objects.of(command.call());
  }
}
