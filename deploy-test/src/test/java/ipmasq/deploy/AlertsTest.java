package ipmasq.deploy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The alerts fire when they should, and lead somewhere; Prometheus' own tool is the judge. */
class AlertsTest {
  @TempDir private Path folder;

  private static List<JsonObject> alerts() throws IOException {
    return Objects.of(Project.text("deploy/monitoring/alerts.yaml"))
        .only("PrometheusRule")
        .getAsJsonObject("spec")
        .getAsJsonArray("groups")
        .get(0)
        .getAsJsonObject()
        .getAsJsonArray("rules")
        .asList()
        .stream()
        .map(rule -> rule.getAsJsonObject())
        .toList();
  }

  @Test
  void everyAlertHasItsPlaceInTroubleshooting() throws Exception {
    var headings =
        Project.text("docs/troubleshooting.md")
            .lines()
            .filter(line -> line.startsWith("#"))
            .map(line -> line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT))
            .collect(Collectors.toSet());
    for (var alert : alerts()) {
      var anchor = alert.get("alert").getAsString().toLowerCase(Locale.ROOT);
      assertTrue(headings.contains(anchor), anchor);
      assertEquals(
          "docs/troubleshooting.md#" + anchor,
          alert.getAsJsonObject("annotations").get("runbook_url").getAsString());
    }
  }

  @Test
  void rulesThatAreNotInForce() throws Exception {
    fires(
        "IpMasqAgentRulesNotInForce",
        """
        ip_masq_agent_rules_in_force{instance="a",family="IPv4"}: 1 0x40
        ip_masq_agent_rules_in_force{instance="b",family="IPv4"}: 1x40
        """,
        "instance: a");
  }

  @Test
  void conflictsThatMatter() throws Exception {
    fires(
        "IpMasqAgentConflict",
        """
        ip_masq_agent_conflicts{instance="a",kind="masquerades",owner="flannel"}: 1x40
        ip_masq_agent_conflicts{instance="b",kind="masquerades-own",owner="docker"}: 1x40
        """,
        "instance: a");
  }

  @Test
  void egressThatIsGoneIsCritical() throws Exception {
    fires(
        "IpMasqAgentEgressBroken",
        """
        ip_masq_agent_conflicts{instance="a",family="IPv4",kind="shields",owner="x"}: 1x40
        ip_masq_agent_conflicts{instance="b",family="IPv4",kind="masquerades",owner="x"}: 1x40
        ip_masq_agent_conflicts{instance="c",family="IPv4",kind="keeps",owner="x"}: 1x40
        ip_masq_agent_conflicts{instance="d",family="IPv4",kind="drops",owner="x"}: 1x40
        ip_masq_agent_flows_wrong{instance="e"}: 1x40
        ip_masq_agent_flows_wrong{instance="f"}: 0x40
        """,
        "instance: a",
        "instance: c",
        "instance: d",
        "instance: e");
    var alert =
        alerts().stream()
            .filter(it -> it.get("alert").getAsString().equals("IpMasqAgentEgressBroken"))
            .findFirst()
            .orElseThrow();
    assertEquals("critical", alert.getAsJsonObject("labels").get("severity").getAsString());
    assertEquals("1m", alert.get("for").getAsString());
  }

  @Test
  void aNodeThatIsNotOkAndOneThatIgnoresKeys() throws Exception {
    fires(
        "IpMasqAgentNotOk",
        """
        ip_masq_agent_ok{instance="a"}: 0x40
        ip_masq_agent_ok{instance="b"}: 1x40
        """,
        "instance: a");
    fires(
        "IpMasqAgentConfigIgnored",
        """
        ip_masq_agent_config_ignored_keys{instance="a"}: 2x40
        ip_masq_agent_config_ignored_keys{instance="b"}: 0x40
        """,
        "instance: a");
  }

  @Test
  void anAgentThatAPodMonitorScrapedAndThatNeverAnswered() throws Exception {
    fires(
        "IpMasqAgentDown",
        """
        up{job="kube-system/ip-masq-agent",instance="a"}: 0x40
        up{job="kube-system/ip-masq-agent",instance="b"}: 1x40
        up{job="kube-system/other",instance="a"}: 0x40
        """,
        "instance: a");
  }

  @Test
  void anAgentThatWasScrapedByAnnotations() throws Exception {
    fires(
        "IpMasqAgentDown",
        """
        up{job="kubernetes-pods",instance="a"}: 1 0x40
        ip_masq_agent_ready{job="kubernetes-pods",instance="a"}: 1 stale
        up{job="kubernetes-pods",instance="b",kubernetes_pod_name="ip-masq-agent-x2v4z"}: 0x40
        up{job="kubernetes-pods",instance="c",kubernetes_pod_name="coredns-1"}: 0x40
        """,
        "instance: a",
        "instance: b");
  }

  @Test
  void aNodeWithoutAnAgent() throws Exception {
    fires(
        "IpMasqAgentMissing",
        """
        kube_node_info{node="has-one",os_image="Debian"}: 1x40
        kube_node_info{node="has-none",os_image="Debian"}: 1x40
        kube_node_info{node="cannot-pull",os_image="Debian"}: 1x40
        kube_node_info{node="windows",os_image="Windows Server 2022"}: 1x40
        kube_pod_info{node="has-one",namespace="kube-system",pod="p1",created_by_kind="DaemonSet",created_by_name="ip-masq-agent"}: 1x40
        kube_pod_info{node="cannot-pull",namespace="kube-system",pod="p2",created_by_kind="DaemonSet",created_by_name="ip-masq-agent"}: 1x40
        kube_pod_info{node="has-none",namespace="kube-system",pod="p3",created_by_kind="DaemonSet",created_by_name="kube-proxy"}: 1x40
        kube_pod_status_phase{namespace="kube-system",pod="p1",phase="Running"}: 1x40
        kube_pod_status_phase{namespace="kube-system",pod="p2",phase="Running"}: 0x40
        kube_pod_status_phase{namespace="kube-system",pod="p3",phase="Running"}: 1x40
        """,
        "node: cannot-pull",
        "node: has-none");
  }

  @Test
  void theDashboardAsksWhatPrometheusUnderstands() throws Exception {
    var rules = new StringBuilder("groups: [{name: dashboard, rules: [");
    var dashboard =
        JsonParser.parseString(Project.text("deploy/monitoring/grafana-dashboard.json"))
            .getAsJsonObject();
    for (var panel : dashboard.getAsJsonArray("panels")) {
      for (var target : panel.getAsJsonObject().getAsJsonArray("targets")) {
        var expression =
            target
                .getAsJsonObject()
                .get("expr")
                .toString()
                .replace("$__rate_interval", "5m")
                .replace("$instance", ".*");
        rules.append("{record: a:b, labels: {n: \"" + rules.length() + "\"}, expr: ");
        rules.append(expression).append("}, ");
      }
    }
    Files.writeString(folder.resolve("dashboard.yaml"), rules + "]}]");
    promtool("check", "rules", "dashboard.yaml");
  }

  @Test
  void theDashboardListsNodesThatAreNotOk() throws Exception {
    assertTrue(
        Project.text("deploy/monitoring/grafana-dashboard.json").contains("Nodes that are not ok"));
    var panels =
        JsonParser.parseString(Project.text("deploy/monitoring/grafana-dashboard.json"))
            .getAsJsonObject()
            .getAsJsonArray("panels");
    var ids = new TreeSet<Integer>();
    panels.forEach(p -> assertTrue(ids.add(p.getAsJsonObject().get("id").getAsInt())));
  }

  /** After half an hour of these series the alert fires for these and nothing else. */
  private void fires(String alert, String series, String... labels) throws Exception {
    var spec = Project.text("deploy/monitoring/alerts.yaml");
    spec = spec.substring(spec.indexOf("\nspec:\n") + "\nspec:\n".length());
    Files.writeString(folder.resolve("alerts.yaml"), spec.stripIndent());
    promtool("check", "rules", "alerts.yaml");
    var input = new StringBuilder();
    for (var line : series.lines().toList()) {
      int end = line.lastIndexOf(": ");
      input.append("      - series: '").append(line, 0, end).append("'\n");
      input.append("        values: ").append(line.substring(end + 2)).append('\n');
    }
    Files.writeString(
        folder.resolve("test.yaml"),
        """
        rule_files: [alerts.yaml]
        tests:
          - interval: 1m
            input_series:
        INPUT    promql_expr_test: []
            alert_rule_test:
              - alertname: ALERT
                eval_time: 30m
                exp_alerts: []
        """
            .replace("INPUT", input)
            .replace("ALERT", alert));
    // It prints what fires where nothing is expected; text and other labels are not this test's.
    var said = run("test", "rules", "test.yaml").text();
    var fired = new TreeSet<String>();
    for (var key : List.of("instance", "node")) {
      var matcher = Pattern.compile("\\b" + key + "=\"([^\"]*)\"").matcher(said);
      while (matcher.find()) {
        fired.add(key + ": " + matcher.group(1));
      }
    }
    assertEquals(new TreeSet<>(Set.of(labels)), fired, said);
  }

  private Podman.Said run(String... arguments) throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of("promtool"));
    command.addAll(List.of(arguments));
    var process =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    var text = new String(process.getInputStream().readAllBytes());
    return new Podman.Said(process.waitFor(), text);
  }

  private void promtool(String... arguments) throws IOException, InterruptedException {
    run(arguments).ok();
  }
}
