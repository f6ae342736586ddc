package ipmasq.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ipmasq.config.Config;
import ipmasq.config.Key;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.sync.SyncReport.Basis;
import ipmasq.sync.Trigger;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class MetricsTest {
  private final Story story = new Story();

  private String text() {
    return Metrics.of(story.read());
  }

  private Story eventful() {
    story.config = Config.defaults().with(Key.ENABLE_IPV6, true);
    return story
        .pass(Trigger.START, Story.changed("10.0.0.0/8"))
        .pass(Trigger.RULES, Story.changed("10.0.0.0/8"))
        .bad(Basis.LAST_GOOD)
        .pass(Trigger.CONFIG, Story.failed());
  }

  @Test
  void saysHowItStands() {
    story.pass(Trigger.START, Story.changed("10.0.0.0/8"));
    assertEquals(
        """
        # HELP ip_masq_agent_build_info Which agent this is; always 1.
        # TYPE ip_masq_agent_build_info gauge
        ip_masq_agent_build_info{version="1.2.3"} 1
        # HELP ip_masq_agent_backend_info How rules reach the kernel; always 1.
        # TYPE ip_masq_agent_backend_info gauge
        ip_masq_agent_backend_info{backend="iptables-nft"} 1
        # HELP ip_masq_agent_ready Whether the config file is good and the rules of every family are in force.
        # TYPE ip_masq_agent_ready gauge
        ip_masq_agent_ready 1
        # HELP ip_masq_agent_ok Whether pods' packets go as the config says, as far as is known.
        # TYPE ip_masq_agent_ok gauge
        ip_masq_agent_ok 1
        # HELP ip_masq_agent_state The state at a glance: good, warn or bad.
        # TYPE ip_masq_agent_state gauge
        ip_masq_agent_state{state="good"} 1
        ip_masq_agent_state{state="warn"} 0
        ip_masq_agent_state{state="bad"} 0
        # HELP ip_masq_agent_rules_pending Whether rules would change: only a dry run leaves it at 1.
        # TYPE ip_masq_agent_rules_pending gauge
        ip_masq_agent_rules_pending 0
        # HELP ip_masq_agent_fighting Whether another program keeps undoing the agent's repairs.
        # TYPE ip_masq_agent_fighting gauge
        ip_masq_agent_fighting 0
        # HELP ip_masq_agent_config_info The SHA-256 of each config file in force; always 1.
        # TYPE ip_masq_agent_config_info gauge
        ip_masq_agent_config_info{path="/etc/config/ip-masq-agent",sha256="74f4114516600398687f46f9e01a0430fe61246ff578e92b8ba4bb596dd73768"} 1
        # HELP ip_masq_agent_config_basis Where the rules in force come from.
        # TYPE ip_masq_agent_config_basis gauge
        ip_masq_agent_config_basis{basis="file"} 1
        ip_masq_agent_config_basis{basis="last-good"} 0
        ip_masq_agent_config_basis{basis="rolled-back"} 0
        ip_masq_agent_config_basis{basis="fallback"} 0
        # HELP ip_masq_agent_config_problems Problems found in the config file as it is now.
        # TYPE ip_masq_agent_config_problems gauge
        ip_masq_agent_config_problems{severity="error"} 0
        ip_masq_agent_config_problems{severity="warning"} 0
        # HELP ip_masq_agent_config_ignored_keys Keys of the config file that the agent does not know.
        # TYPE ip_masq_agent_config_ignored_keys gauge
        ip_masq_agent_config_ignored_keys 0
        # HELP ip_masq_agent_config_rejections_total Times that the file became bad, or bad in another way.
        # TYPE ip_masq_agent_config_rejections_total counter
        ip_masq_agent_config_rejections_total 0
        # HELP ip_masq_agent_config_in_force_timestamp_seconds When the config in force was put in force.
        # TYPE ip_masq_agent_config_in_force_timestamp_seconds gauge
        ip_masq_agent_config_in_force_timestamp_seconds 1767268801
        # HELP ip_masq_agent_passes_total Syncs (read the file, compare the rules, repair them), by trigger.
        # TYPE ip_masq_agent_passes_total counter
        ip_masq_agent_passes_total{trigger="start"} 1
        ip_masq_agent_passes_total{trigger="config"} 0
        ip_masq_agent_passes_total{trigger="drift"} 0
        ip_masq_agent_passes_total{trigger="resync"} 0
        ip_masq_agent_passes_total{trigger="retry"} 0
        # HELP ip_masq_agent_pass_duration_seconds How long syncs took.
        # TYPE ip_masq_agent_pass_duration_seconds histogram
        ip_masq_agent_pass_duration_seconds_bucket{le="0.005"} 0
        ip_masq_agent_pass_duration_seconds_bucket{le="0.01"} 0
        ip_masq_agent_pass_duration_seconds_bucket{le="0.025"} 0
        ip_masq_agent_pass_duration_seconds_bucket{le="0.05"} 1
        ip_masq_agent_pass_duration_seconds_bucket{le="0.1"} 1
        ip_masq_agent_pass_duration_seconds_bucket{le="0.25"} 1
        ip_masq_agent_pass_duration_seconds_bucket{le="0.5"} 1
        ip_masq_agent_pass_duration_seconds_bucket{le="1.0"} 1
        ip_masq_agent_pass_duration_seconds_bucket{le="2.5"} 1
        ip_masq_agent_pass_duration_seconds_bucket{le="5.0"} 1
        ip_masq_agent_pass_duration_seconds_bucket{le="10.0"} 1
        ip_masq_agent_pass_duration_seconds_bucket{le="+Inf"} 1
        ip_masq_agent_pass_duration_seconds_sum 0.03
        ip_masq_agent_pass_duration_seconds_count 1
        # HELP ip_masq_agent_last_pass_timestamp_seconds When the latest sync ended.
        # TYPE ip_masq_agent_last_pass_timestamp_seconds gauge
        ip_masq_agent_last_pass_timestamp_seconds 1767268801
        # HELP ip_masq_agent_rules_in_force Whether the latest sync found the rules in place, or put them there.
        # TYPE ip_masq_agent_rules_in_force gauge
        ip_masq_agent_rules_in_force{family="IPv4"} 1
        # HELP ip_masq_agent_rule_changes_total Syncs that changed rules in the kernel.
        # TYPE ip_masq_agent_rule_changes_total counter
        ip_masq_agent_rule_changes_total{family="IPv4"} 1
        # HELP ip_masq_agent_drift_repairs_total Syncs that restored rules that another program had changed.
        # TYPE ip_masq_agent_drift_repairs_total counter
        ip_masq_agent_drift_repairs_total{family="IPv4"} 0
        # HELP ip_masq_agent_rule_failures_total Syncs that could not read or write the rules.
        # TYPE ip_masq_agent_rule_failures_total counter
        ip_masq_agent_rule_failures_total{family="IPv4"} 0
        # HELP ip_masq_agent_forgotten_flows_total Flows dropped from conntrack so that they follow new rules.
        # TYPE ip_masq_agent_forgotten_flows_total counter
        ip_masq_agent_forgotten_flows_total 0
        # HELP ip_masq_agent_ranges Destination ranges in the rules, by what the rules do to packets there.
        # TYPE ip_masq_agent_ranges gauge
        ip_masq_agent_ranges{family="IPv4",treatment="exempt"} 4
        ip_masq_agent_ranges{family="IPv4",treatment="masquerade"} 0
        # HELP ip_masq_agent_conflicts Other programs' rules that decide against the config, by what they do.
        # TYPE ip_masq_agent_conflicts gauge
        # HELP ip_masq_agent_sampled_flows_total Pods' flows in samples, by whether their source was right.
        # TYPE ip_masq_agent_sampled_flows_total counter
        ip_masq_agent_sampled_flows_total{result="as_config"} 0
        ip_masq_agent_sampled_flows_total{result="against_config"} 0
        # HELP ip_masq_agent_flows_wrong Whether pods' flows go against the config, by the latest samples.
        # TYPE ip_masq_agent_flows_wrong gauge
        ip_masq_agent_flows_wrong 0
        # HELP ip_masq_agent_silent_ranges Ranges that answered before the last change and now hardly do.
        # TYPE ip_masq_agent_silent_ranges gauge
        ip_masq_agent_silent_ranges 0
        # HELP ip_masq_agent_ports_used_ratio Source ports in use towards the busiest destinations, if many.
        # TYPE ip_masq_agent_ports_used_ratio gauge
        # HELP ip_masq_agent_masqueraded_flows_total Flows that the agent masqueraded since it wrote the rules.
        # TYPE ip_masq_agent_masqueraded_flows_total counter
        ip_masq_agent_masqueraded_flows_total{family="IPv4"} 7
        # HELP ip_masq_agent_exempted_flows_total Flows to an exempt range since the agent wrote the rules.
        # TYPE ip_masq_agent_exempted_flows_total counter
        ip_masq_agent_exempted_flows_total{family="IPv4"} 9
        # HELP ip_masq_agent_range_flows_total Flows to a range, of the 256 busiest, since it was written.
        # TYPE ip_masq_agent_range_flows_total counter
        ip_masq_agent_range_flows_total{family="IPv4",range="169.254.0.0/16",treatment="exempt"} 1
        ip_masq_agent_range_flows_total{family="IPv4",range="10.0.0.0/8",treatment="exempt"} 2
        ip_masq_agent_range_flows_total{family="IPv4",range="172.16.0.0/12",treatment="exempt"} 3
        ip_masq_agent_range_flows_total{family="IPv4",range="192.168.0.0/16",treatment="exempt"} 4
        # HELP process_start_time_seconds When it started.
        # TYPE process_start_time_seconds gauge
        process_start_time_seconds 1767268800
        # HELP process_cpu_seconds_total User and system CPU time of the agent.
        # TYPE process_cpu_seconds_total counter
        process_cpu_seconds_total 0.25
        # HELP process_resident_memory_bytes Resident memory of the agent.
        # TYPE process_resident_memory_bytes gauge
        process_resident_memory_bytes 40000000
        """,
        text()
            .replaceAll("(memory_bytes) \\d{7,}\n", "$1 40000000\n")
            .replaceAll("(process_cpu_seconds_total) [0-9.]+\n", "$1 0.25\n"));
  }

  @Test
  void countsWhatHappened() {
    eventful();
    String text = text();
    assertTrue(text.contains("\nip_masq_agent_ready 0\n"));
    assertTrue(text.contains("\nip_masq_agent_config_basis{basis=\"last-good\"} 1\n"));
    assertTrue(text.contains("\nip_masq_agent_drift_repairs_total{family=\"IPv6\"} 1\n"));
    assertTrue(text.contains("\nip_masq_agent_rule_failures_total{family=\"IPv6\"} 1\n"));
    assertTrue(text.contains("range=\"fe80::/10\""));
  }

  @Test
  void ofManyRangesTheBusiestHaveASeries() {
    List<Cidr> many = new ArrayList<>();
    for (int i = 0; i < Metrics.MOST_RANGES; i++) {
      many.add(Cidr.of("10." + i + ".0.0/16"));
    }
    story.config = Config.defaults().with(Key.NON_MASQUERADE_CIDRS, Cidrs.copyOf(many));
    story.pass(Trigger.START, Story.unchanged());
    String text = text();
    assertEquals(256, text.split("\nip_masq_agent_range_flows_total\\{", -1).length - 1);
    assertTrue(text.contains("range=\"10.255.0.0/16\",treatment=\"exempt\"} 257\n"), text);
    assertFalse(text.contains("range=\"169.254.0.0/16\""), "the one with a single flow");
  }

  @Test
  void escapesLabelValues() {
    assertEquals("\\\"\\\\\\n", Metrics.escaped("\"\\\n"));
  }

  @Test
  void promtoolFindsNothingToComplainAbout() throws IOException, InterruptedException {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/promtool")), "promtool is not installed");
    eventful();
    Process promtool =
        new ProcessBuilder("/usr/bin/promtool", "check", "metrics")
            .redirectErrorStream(true)
            .start();
    try (OutputStream in = promtool.getOutputStream()) {
      in.write(text().getBytes(StandardCharsets.UTF_8));
    }
    assertTrue(promtool.waitFor(20, TimeUnit.SECONDS));
    String said = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals("", said);
    assertEquals(0, promtool.exitValue());
  }
}
