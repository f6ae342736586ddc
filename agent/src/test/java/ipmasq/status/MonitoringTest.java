package ipmasq.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ipmasq.loop.Trigger;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is deployed beside the agent asks for metrics that the agent has. */
class MonitoringTest {
  private static final Path PROMTOOL = Path.of("/usr/bin/promtool");
  private static final Path FOLDER =
      Path.of(System.getProperty("ipmasq.project"), "deploy", "monitoring");
  private static final Pattern NAME = Pattern.compile("(?:ip_masq_agent|process)_[a-z_]+");

  @TempDir Path temporary;

  /** The names that the agent exposes, those of histograms with their endings. */
  private static Set<String> exposed() {
    Story story = new Story().pass(Trigger.START, Story.unchanged());
    String text = Metrics.of(story.view(), new Usage(Optional.of(Instant.EPOCH), 1, 1));
    Set<String> names = new TreeSet<>();
    Matcher types = Pattern.compile("# TYPE (\\S+) (\\S+)").matcher(text);
    while (types.find()) {
      if (types.group(2).equals("histogram")) {
        names.add(types.group(1) + "_bucket");
      } else {
        names.add(types.group(1));
      }
    }
    return names;
  }

  @Test
  void alertsAndDashboardAskForMetricsThatThereAre() throws IOException {
    Set<String> exposed = exposed();
    for (String file : new String[] {"alerts.yaml", "grafana-dashboard.json"}) {
      Set<String> asked = new TreeSet<>();
      Matcher names = NAME.matcher(Files.readString(FOLDER.resolve(file)));
      while (names.find()) {
        asked.add(names.group());
      }
      assertTrue(asked.size() > 4, file);
      asked.removeAll(exposed);
      assertEquals(Set.of(), asked, file + " asks for what the agent does not have");
    }
  }

  @Test
  void promtoolTakesTheAlertsAndTheyFireWhenTheyShould() throws Exception {
    assumeTrue(Files.isExecutable(PROMTOOL), "promtool is not installed");
    String yaml = Files.readString(FOLDER.resolve("alerts.yaml"));
    String rules = yaml.substring(yaml.indexOf("\nspec:\n") + "\nspec:\n".length());
    Files.writeString(temporary.resolve("alerts.yaml"), rules.stripIndent());
    promtool("check", "rules", "alerts.yaml");
    Files.writeString(
        temporary.resolve("test.yaml"),
        """
        rule_files: [alerts.yaml]
        evaluation_interval: 1m
        tests:
          - interval: 1m
            input_series:
              - series: ip_masq_agent_rules_in_force{instance="a",family="ipv4"}
                values: 1 0x20
              - series: ip_masq_agent_rules_in_force{instance="b",family="ipv4"}
                values: 1x20
              - series: ip_masq_agent_conflicts{instance="a",family="ipv4",kind="masquerades",owner="flannel"}
                values: 1x30
              - series: ip_masq_agent_conflicts{instance="a",family="ipv4",kind="masquerades-own",owner="docker"}
                values: 1x30
            alert_rule_test:
              - alertname: IpMasqAgentRulesNotInForce
                eval_time: 3m
                exp_alerts: []
              - alertname: IpMasqAgentRulesNotInForce
                eval_time: 10m
                exp_alerts:
                  - exp_labels: {severity: critical, instance: a, family: ipv4}
                    exp_annotations:
                      summary: The ipv4 rules of a are not in force
                      description: >-
                        The agent could not read or write them for 5 minutes. What was in force before stays, but is
                        not known to be right. `ip-masq-agent status` on the node, or its page, says why and what to do.
              - alertname: IpMasqAgentConflict
                eval_time: 20m
                exp_alerts:
                  - exp_labels: {severity: warning, instance: a, family: ipv4, kind: masquerades, owner: flannel}
                    exp_annotations:
                      summary: Rules of flannel on a decide against the config
                      description: >-
                        They masquerade what the config exempts, or keep packets from the agent's rules.
                        `ip-masq-agent status` shows the rule and what to do about it.
        """);
    promtool("test", "rules", "test.yaml");
  }

  private void promtool(String... arguments) throws IOException, InterruptedException {
    String[] command = new String[arguments.length + 1];
    command[0] = PROMTOOL.toString();
    System.arraycopy(arguments, 0, command, 1, arguments.length);
    Process process =
        new ProcessBuilder(command).directory(temporary.toFile()).redirectErrorStream(true).start();
    assertTrue(process.waitFor(30, TimeUnit.SECONDS));
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.exitValue(), said);
  }
}
