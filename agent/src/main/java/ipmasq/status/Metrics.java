package ipmasq.status;

import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.net.Family;
import ipmasq.net.Protocols;
import ipmasq.plan.Counter;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.status.Status.Totals;
import ipmasq.sync.SyncReport;
import ipmasq.sync.SyncReport.Basis;
import ipmasq.sync.Trigger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The status for Prometheus. */
final class Metrics {
  /** Only this many ranges per family, the busiest, get a time series: those are not free. */
  static final int MOST_RANGES = 256;

  private static final double TICKS_PER_SECOND = 100; // the same on every Linux that Java runs on

  private final Exposition out = new Exposition();
  private final Status status;

  private Metrics(Status status) {
    this.status = status;
  }

  static String of(Status status) {
    Metrics metrics = new Metrics(status);
    metrics.agent();
    metrics.config();
    metrics.syncs();
    metrics.families();
    metrics.conflicts();
    metrics.sampledFlows();
    metrics.traffic();
    metrics.process();
    return metrics.out.toString();
  }

  private void agent() {
    out.gauge("ip_masq_agent_build_info", "Which agent this is; always 1.")
        .sample(1, "version", status.identity().version());
    out.gauge("ip_masq_agent_backend_info", "How rules reach the kernel; always 1.")
        .sample(1, "backend", status.last().backend());
    out.gauge(
            "ip_masq_agent_ready",
            "Whether the config file is good and the rules of every family are in force.")
        .sample(status.ready() ? 1 : 0);
    Headline headline = status.headline();
    out.gauge(
            "ip_masq_agent_ok",
            "Whether pods' packets go as the config says, as far as is known: ready, the rules are"
                + " still in the kernel, no rule of another program decides against it, live flows do not go"
                + " against it, and no other program keeps changing the rules.")
        .sample(headline.ok() ? 1 : 0);
    out.gauge("ip_masq_agent_state", "The state at a glance: good, warn or bad.");
    for (Headline.Level level : Headline.Level.values()) {
      out.sample(level == headline.level() ? 1 : 0, "state", level.toString());
    }
    out.gauge("ip_masq_agent_config_info", "The SHA-256 of each config file in force; always 1.");
    for (Reading.SourceFile source : status.last().sources()) {
      if (source.hash().isPresent()) {
        out.sample(1, "path", source.path().toString(), "sha256", source.hash().get());
      }
    }
    out.gauge(
            "ip_masq_agent_rules_pending",
            "Whether an agent that writes would change rules; only a dry run leaves it at 1.")
        .sample(status.last().pending() ? 1 : 0);
  }

  private void config() {
    SyncReport last = status.last();
    out.gauge(
        "ip_masq_agent_config_basis",
        "Where the rules in force come from: the file, its last good state, or the fallback.");
    for (Basis basis : Basis.values()) {
      out.sample(basis == last.basis() ? 1 : 0, "basis", basis.word());
    }
    out.gauge("ip_masq_agent_config_problems", "Problems found in the config file as it is now.");
    for (Problem.Severity severity : Problem.Severity.values()) {
      long count = last.problems().stream().filter(p -> p.severity() == severity).count();
      out.sample(count, "severity", severity.name().toLowerCase(Locale.ROOT));
    }
    out.gauge(
            "ip_masq_agent_config_ignored_keys",
            "Keys of the config file that the agent does not know, and so ignores.")
        .sample(last.effective().gap().ignoredKeys());
    out.counter(
            "ip_masq_agent_config_rejections_total",
            "Times that the config file became bad, or bad in another way.")
        .sample(status.totals().rejections());
    out.gauge(
            "ip_masq_agent_config_in_force_timestamp_seconds",
            "When the config in force was put in force.")
        .sample(seconds(status.configSince()));
  }

  private void syncs() {
    Totals totals = status.totals();
    out.counter(
        "ip_masq_agent_passes_total",
        "Syncs (read the file, compare the rules, repair them), by what triggered them.");
    for (Trigger trigger : Trigger.values()) {
      if (trigger != Trigger.STOP) {
        out.sample(totals.syncs().getOrDefault(trigger, 0L), "trigger", trigger.toString());
      }
    }
    out.histogram(
        "ip_masq_agent_pass_duration_seconds",
        "How long syncs took, up to the rules being in force.");
    long cumulated = 0;
    for (int i = 0; i < Totals.BOUNDS.size(); i++) {
      cumulated += totals.durations().get(i);
      out.suffixed("_bucket", cumulated, "le", String.valueOf(Totals.BOUNDS.get(i) / 1000.0));
    }
    out.suffixed("_bucket", Totals.sum(totals.syncs()), "le", "+Inf");
    out.suffixed("_sum", totals.spent().toMillis() / 1000.0);
    out.suffixed("_count", Totals.sum(totals.syncs()));
    out.gauge("ip_masq_agent_last_pass_timestamp_seconds", "When the latest sync ended.")
        .sample(seconds(status.last().at()));
  }

  private void families() {
    out.gauge(
            "ip_masq_agent_fighting", "Whether another program keeps undoing the agent's repairs.")
        .sample(status.last().fighting() ? 1 : 0);
    out.gauge(
        "ip_masq_agent_rules_in_force",
        "Whether the latest sync found the rules in place, or put them there.");
    for (Family family : status.enabled()) {
      out.sample(
          status.standing(family).rules() == Status.Rules.IN_FORCE ? 1 : 0,
          "family",
          family.toString());
    }
    Totals totals = status.totals();
    byFamily(
        "ip_masq_agent_rule_changes_total",
        "Syncs that changed rules in the kernel.",
        totals.changes());
    byFamily(
        "ip_masq_agent_drift_repairs_total",
        "Syncs that changed rules because another program had changed them.",
        totals.repairs());
    byFamily(
        "ip_masq_agent_rule_failures_total",
        "Syncs that could not read or write the rules.",
        totals.failures());
    out.counter(
            "ip_masq_agent_forgotten_flows_total",
            "Flows under way that were dropped from conntrack so that they follow new rules.")
        .sample(totals.flows());
    out.gauge(
        "ip_masq_agent_ranges",
        "Destination ranges in the rules, by what the rules do to packets there.");
    for (Family family : status.enabled()) {
      Policy policy = status.policy(family);
      for (Treatment treatment : Treatment.values()) {
        long count = policy.destinations().stream().filter(d -> d.treatment() == treatment).count();
        out.sample(count, "family", family.toString(), "treatment", word(treatment));
      }
    }
  }

  private void conflicts() {
    out.gauge(
        "ip_masq_agent_conflicts",
        "Other programs' rules at the nat postrouting hook that decide against the config, by what they"
            + " do.");
    Map<List<String>, Integer> rules = new LinkedHashMap<>();
    for (Conflict conflict : status.conflicts().orElse(List.of())) {
      rules.merge(
          List.of(conflict.family().toString(), conflict.kind().word(), conflict.owner().title()),
          conflict.rules(),
          Integer::sum);
    }
    rules.forEach(
        (labels, count) ->
            out.sample(
                count, "family", labels.get(0), "kind", labels.get(1), "owner", labels.get(2)));
  }

  private void sampledFlows() {
    out.counter(
            "ip_masq_agent_sampled_flows_total",
            "Pods' flows among the new flows of about a second per half minute, by whether their"
                + " source address left as the config says; a sample, so not all flows.")
        .sample(status.flows().asConfig(), "result", "as_config")
        .sample(status.flows().against(), "result", "against_config");
    out.gauge(
            "ip_masq_agent_silent_ranges",
            "Ranges whose flows were answered before the last change and now hardly are.")
        .sample(status.flows().change().silent().size());
    out.gauge(
        "ip_masq_agent_ports_used_ratio",
        "Source ports in use towards the busiest destinations, of those that masquerading may use;"
            + " only while so many flows are tracked that ports may be scarce.");
    status.flows().table().stream()
        .flatMap(table -> table.ports().stream())
        .forEach(
            ports ->
                out.sample(
                    ports.ratio(),
                    "address",
                    ports.target().address().toString(),
                    "protocol",
                    Protocols.name(ports.target().protocol()),
                    "destination",
                    ports.target().destination().toString(),
                    "port",
                    String.valueOf(ports.target().port())));
    out.gauge(
            "ip_masq_agent_flows_wrong",
            "Whether pods' flows go against the config, by the latest samples that saw any.")
        .sample(status.flows().wrongNow().isPresent() ? 1 : 0);
  }

  private void byFamily(String name, String help, Map<Family, Long> counts) {
    out.counter(name, help);
    for (Family family : status.enabled()) {
      out.sample(counts.getOrDefault(family, 0L), "family", family.toString());
    }
  }

  private void traffic() {
    out.counter(
        "ip_masq_agent_masqueraded_flows_total",
        "Flows that the agent's rules gave another source address, since the rules were written.");
    for (Family family : status.enabled()) {
      status
          .tally(family)
          .ifPresent(
              tally -> out.sample(tally.translated().packets(), "family", family.toString()));
    }
    out.counter(
        "ip_masq_agent_exempted_flows_total",
        "Flows that matched an exempt range in the agent's rules, since the rules were written.");
    for (Family family : status.enabled()) {
      status
          .tally(family)
          .ifPresent(tally -> out.sample(tally.exempted().packets(), "family", family.toString()));
    }
    out.counter(
        "ip_masq_agent_range_flows_total",
        "Flows that matched a range in the agent's rules, since it was written; of more than 256"
            + " ranges per family the 256 busiest.");
    for (Family family : status.enabled()) {
      ranges(family);
    }
  }

  private void ranges(Family family) {
    Set<Destination> shown = new HashSet<>();
    for (Destination destination : status.busiest(family, MOST_RANGES)) {
      Optional<Counter> counter =
          status.tally(family).map(tally -> tally.ranges().get(destination.range()));
      if (counter.isPresent() && shown.add(destination)) {
        out.sample(
            counter.get().packets(),
            "family",
            family.toString(),
            "range",
            destination.range().toString(),
            "treatment",
            word(destination.treatment()));
      }
    }
  }

  private static String word(Treatment treatment) {
    return switch (treatment) {
      case EXEMPT -> "exempt";
      case TRANSLATE -> "masquerade";
    };
  }

  /** This process, under the names of Prometheus' client libraries. */
  private void process() {
    status
        .identity()
        .started()
        .ifPresent(
            started ->
                out.gauge("process_start_time_seconds", "When the agent started.")
                    .sample(seconds(started)));
    try {
      // 3484 (name) S 1 …: the name in parentheses may contain blanks and parentheses.
      String stat = Files.readString(Path.of("/proc/self/stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
      String text = Files.readString(Path.of("/proc/self/status"));
      String resident = text.substring(text.indexOf("VmRSS:")).lines().findFirst().orElse("");
      out.gauge("process_resident_memory_bytes", "Resident memory of the agent's process.")
          .sample(Long.parseLong(resident.replaceAll("\\D", "")) * 1024);
      out.counter("process_cpu_seconds_total", "User and system CPU time of the agent's process.")
          .sample((Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / TICKS_PER_SECOND);
    } catch (IOException noProc) {
      // Without them, then.
    }
  }

  private static double seconds(Instant instant) {
    return instant.toEpochMilli() / 1000.0;
  }
}
