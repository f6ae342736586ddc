package ipmasq.status;

import ipmasq.config.Problem;
import ipmasq.hook.Conflict;
import ipmasq.loop.Pass;
import ipmasq.loop.Pass.Basis;
import ipmasq.loop.Trigger;
import ipmasq.net.Family;
import ipmasq.plan.Counter;
import ipmasq.plan.Tally;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import java.time.Instant;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The status for Prometheus. */
final class Metrics {
  /** Beyond this many ranges a family, none is counted by itself: time series are not free. */
  static final int MOST_RANGES = 256;

  private final Exposition out = new Exposition();
  private final View view;
  private final Status status;

  private Metrics(View view) {
    this.view = view;
    this.status = view.status();
  }

  static String of(View view, Usage usage) {
    Metrics metrics = new Metrics(view);
    metrics.agent();
    metrics.config();
    metrics.passes();
    metrics.families();
    metrics.conflicts();
    metrics.traffic();
    usage.write(metrics.out);
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
  }

  private void config() {
    Pass last = status.last();
    out.gauge(
        "ip_masq_agent_config_basis",
        "What the rules in force rest on: the file, its last good state, or the fallback.");
    for (Basis basis : Basis.values()) {
      out.sample(basis == last.basis() ? 1 : 0, "basis", basis.name().toLowerCase(Locale.ROOT));
    }
    out.gauge("ip_masq_agent_config_problems", "What is wrong with the config file now.");
    for (Problem.Severity severity : Problem.Severity.values()) {
      long count = last.problems().stream().filter(p -> p.severity() == severity).count();
      out.sample(count, "severity", severity.name().toLowerCase(Locale.ROOT));
    }
    out.counter(
            "ip_masq_agent_config_rejections_total",
            "How often the config file was found bad, each state of it once.")
        .sample(status.totals().rejections());
    out.gauge(
            "ip_masq_agent_config_in_force_timestamp_seconds",
            "Since when the config in force has been in force.")
        .sample(seconds(status.configSince()));
  }

  private void passes() {
    Totals totals = status.totals();
    out.counter(
        "ip_masq_agent_passes_total", "Times that file and rules were looked at, by the reason.");
    for (Trigger trigger : Trigger.values()) {
      if (trigger != Trigger.STOP) {
        out.sample(totals.passes().getOrDefault(trigger, 0L), "trigger", trigger.toString());
      }
    }
    out.histogram("ip_masq_agent_pass_duration_seconds", "How long passes took.");
    long cumulated = 0;
    for (int i = 0; i < Totals.BOUNDS.length; i++) {
      cumulated += totals.durations().get(i);
      out.suffixed("_bucket", cumulated, "le", String.valueOf(Totals.BOUNDS[i] / 1000.0));
    }
    out.suffixed("_bucket", totals.allPasses(), "le", "+Inf");
    out.suffixed("_sum", totals.spent().toMillis() / 1000.0);
    out.suffixed("_count", totals.allPasses());
    out.gauge("ip_masq_agent_last_pass_timestamp_seconds", "When the latest pass began.")
        .sample(seconds(status.last().at()));
  }

  private void families() {
    out.gauge(
            "ip_masq_agent_fighting", "Whether another program keeps undoing what the agent mends.")
        .sample(status.last().fighting() ? 1 : 0);
    out.gauge("ip_masq_agent_rules_in_force", "Whether the rules are known to be in force.");
    for (Family family : status.enabled()) {
      out.sample(status.failure(family).isEmpty() ? 1 : 0, "family", word(family));
    }
    Totals totals = status.totals();
    byFamily("ip_masq_agent_rule_changes_total", "Passes that wrote rules.", totals.changes());
    byFamily(
        "ip_masq_agent_drift_repairs_total",
        "Passes that wrote rules because somebody else had changed them.",
        totals.repairs());
    byFamily(
        "ip_masq_agent_rule_failures_total",
        "Passes that could not read or write the rules.",
        totals.failures());
    out.counter(
            "ip_masq_agent_forgotten_flows_total",
            "Flows under way that were dropped from conntrack so that they follow new rules.")
        .sample(totals.flows());
    out.gauge(
        "ip_masq_agent_ranges", "Destination ranges in force, by what happens to packets there.");
    for (Family family : status.enabled()) {
      Policy policy = view.policy(family);
      for (Treatment treatment : Treatment.values()) {
        long count = policy.destinations().stream().filter(d -> d.treatment() == treatment).count();
        out.sample(count, "family", word(family), "treatment", word(treatment));
      }
    }
  }

  private void conflicts() {
    out.gauge(
        "ip_masq_agent_conflicts",
        "Rules of others at the nat postrouting hook that decide against the config, by what they"
            + " do.");
    for (Conflict conflict : view.conflicts()) {
      out.sample(
          conflict.rules(),
          "family",
          word(conflict.family()),
          "kind",
          conflict.kind().word(),
          "owner",
          conflict.owner().name().toLowerCase(Locale.ROOT));
    }
  }

  private void byFamily(String name, String help, Map<Family, Long> counts) {
    out.counter(name, help);
    for (Family family : status.enabled()) {
      out.sample(counts.getOrDefault(family, 0L), "family", word(family));
    }
  }

  private void traffic() {
    out.counter(
        "ip_masq_agent_masqueraded_flows_total",
        "Flows that got another source address: nat rules see the first packet of each.");
    for (Family family : status.enabled()) {
      view.tally(family)
          .ifPresent(tally -> out.sample(tally.translated().packets(), "family", word(family)));
    }
    out.counter(
        "ip_masq_agent_exempted_flows_total",
        "Flows that kept their source address because of a range.");
    for (Family family : status.enabled()) {
      view.tally(family)
          .ifPresent(tally -> out.sample(tally.exempted().packets(), "family", word(family)));
    }
    out.counter(
        "ip_masq_agent_range_flows_total",
        "Flows to a range, as its rule counts them; at most 256 ranges a family are shown.");
    for (Family family : status.enabled()) {
      ranges(family);
    }
  }

  private void ranges(Family family) {
    Optional<Tally> tally = view.tally(family);
    Policy policy = view.policy(family);
    if (tally.isEmpty() || policy.destinations().size() > MOST_RANGES) {
      return;
    }
    Set<Destination> shown = new HashSet<>();
    for (Destination destination : policy.destinations()) {
      Counter counter = tally.get().ranges().get(destination.range());
      if (counter != null && shown.add(destination)) {
        out.sample(
            counter.packets(),
            "family",
            word(family),
            "range",
            destination.range().toString(),
            "treatment",
            word(destination.treatment()));
      }
    }
  }

  private static String word(Family family) {
    return family.toString().toLowerCase(Locale.ROOT);
  }

  private static String word(Treatment treatment) {
    return switch (treatment) {
      case EXEMPT -> "exempt";
      case TRANSLATE -> "masquerade";
    };
  }

  private static double seconds(Instant instant) {
    return instant.toEpochMilli() / 1000.0;
  }
}
