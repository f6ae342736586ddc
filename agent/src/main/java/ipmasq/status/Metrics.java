package ipmasq.status;

import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.hook.Conflict;
import ipmasq.loop.Pass;
import ipmasq.loop.Pass.Basis;
import ipmasq.loop.Trigger;
import ipmasq.net.Family;
import ipmasq.plan.Counter;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
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
    metrics.sampledFlows();
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
    State state = view.state();
    out.gauge(
            "ip_masq_agent_ok",
            "Whether pods' packets go as the config says, as far as is known: ready, the rules are"
                + " still in the kernel, no rule of others decides against it, live flows do not go"
                + " against it, and nobody keeps changing the rules.")
        .sample(state.ok() ? 1 : 0);
    out.gauge("ip_masq_agent_state", "The state at a glance: good, warn or bad.");
    for (State.StateLevel level : State.StateLevel.values()) {
      out.sample(level == state.level() ? 1 : 0, "state", level.toString());
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
    Pass last = status.last();
    out.gauge(
        "ip_masq_agent_config_basis",
        "What the rules in force rest on: the file, its last good state, or the fallback.");
    for (Basis basis : Basis.values()) {
      out.sample(basis == last.basis() ? 1 : 0, "basis", basis.word());
    }
    out.gauge("ip_masq_agent_config_problems", "Problems found in the config file as it is now.");
    for (Problem.Severity severity : Problem.Severity.values()) {
      long count = last.problems().stream().filter(p -> p.severity() == severity).count();
      out.sample(count, "severity", severity.name().toLowerCase(Locale.ROOT));
    }
    out.counter(
            "ip_masq_agent_config_rejections_total",
            "Times that the config file became bad, or bad in another way.")
        .sample(status.totals().rejections());
    out.gauge(
            "ip_masq_agent_config_in_force_timestamp_seconds",
            "When the config in force was put in force.")
        .sample(seconds(status.configSince()));
  }

  private void passes() {
    Totals totals = status.totals();
    out.counter(
        "ip_masq_agent_passes_total",
        "Passes (read the file, compare the rules, repair them), by what triggered them.");
    for (Trigger trigger : Trigger.values()) {
      if (trigger != Trigger.STOP) {
        out.sample(totals.passes().getOrDefault(trigger, 0L), "trigger", trigger.toString());
      }
    }
    out.histogram(
        "ip_masq_agent_pass_duration_seconds",
        "How long passes took, up to the rules being in force.");
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
            "ip_masq_agent_fighting", "Whether another program keeps undoing the agent's repairs.")
        .sample(status.last().fighting() ? 1 : 0);
    out.gauge(
        "ip_masq_agent_rules_in_force",
        "Whether the latest pass found the rules in place, or put them there.");
    for (Family family : status.enabled()) {
      out.sample(status.failure(family).isEmpty() ? 1 : 0, "family", family.toString());
    }
    Totals totals = status.totals();
    byFamily(
        "ip_masq_agent_rule_changes_total",
        "Passes that changed rules in the kernel.",
        totals.changes());
    byFamily(
        "ip_masq_agent_drift_repairs_total",
        "Passes that changed rules because another program had changed them.",
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
        "ip_masq_agent_ranges",
        "Destination ranges in the rules, by what the rules do to packets there.");
    for (Family family : status.enabled()) {
      Policy policy = view.policy(family);
      for (Treatment treatment : Treatment.values()) {
        long count = policy.destinations().stream().filter(d -> d.treatment() == treatment).count();
        out.sample(count, "family", family.toString(), "treatment", word(treatment));
      }
    }
  }

  private void conflicts() {
    out.gauge(
        "ip_masq_agent_conflicts",
        "Rules of others at the nat postrouting hook that decide against the config, by what they"
            + " do.");
    Map<List<String>, Integer> rules = new LinkedHashMap<>();
    for (Conflict conflict : view.conflicts()) {
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
      view.tally(family)
          .ifPresent(
              tally -> out.sample(tally.translated().packets(), "family", family.toString()));
    }
    out.counter(
        "ip_masq_agent_exempted_flows_total",
        "Flows that matched an exempt range in the agent's rules, since the rules were written.");
    for (Family family : status.enabled()) {
      view.tally(family)
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
    for (Destination destination : view.busiest(family, MOST_RANGES)) {
      Optional<Counter> counter = view.counter(family, destination.range());
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

  private static double seconds(Instant instant) {
    return instant.toEpochMilli() / 1000.0;
  }
}
