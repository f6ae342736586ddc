package ipmasq.status;

import ipmasq.config.FileSnapshot;
import ipmasq.config.Problem;
import ipmasq.evidence.flows.PortPressure.Ports;
import ipmasq.evidence.flows.PortPressure.Target;
import ipmasq.evidence.flows.TableReport;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.net.Family;
import ipmasq.net.Protocols;
import ipmasq.plan.Tally;
import ipmasq.plan.Tally.Counter;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.status.Status.Deed;
import ipmasq.status.Status.Totals;
import ipmasq.sync.SyncReport;
import ipmasq.sync.SyncReport.Basis;
import ipmasq.sync.Trigger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * The status for Prometheus: text in its exposition format, version 0.0.4, metric by metric.
 *
 * <pre>
 *   # HELP ip_masq_agent_ready Whether …
 *   # TYPE ip_masq_agent_ready gauge
 *   ip_masq_agent_ready 1
 * </pre>
 */
final class Metrics {
  static final String TYPE = "text/plain; version=0.0.4; charset=utf-8";

  /** Only this many ranges per family, the busiest, get a time series: those are not free. */
  static final int MOST_RANGES = 256;

  private final StringBuilder text = new StringBuilder(8192);
  private String name = "";

  static String of(Status status) {
    Metrics metrics = new Metrics();
    metrics.state(status);
    metrics.config(status);
    metrics.syncs(status);
    metrics.families(status);
    metrics.evidence(status);
    metrics.traffic(status);
    metrics.process(status);
    return metrics.text.toString();
  }

  private void state(Status status) {
    gauge("build_info", "Which agent this is; always 1.")
        .add(1, "version", status.identity().version());
    gauge("backend_info", "How rules reach the kernel; always 1.")
        .add(1, "backend", status.last().backend());
    gauge("ready", "Whether the config file is good and the rules of every family are in force.")
        .add(status.ready());
    Headline headline = status.headline();
    gauge("ok", "Whether pods' packets go as the config says, as far as is known.")
        .add(headline.ok());
    gauge("state", "The state at a glance: good, warn or bad.")
        .oneOf("state", Headline.Level.values(), headline.level(), Headline.Level::toString);
    gauge("rules_pending", "Whether rules would change: only a dry run leaves it at 1.")
        .add(status.last().pending());
    gauge("fighting", "Whether another program keeps undoing the agent's repairs.")
        .add(status.last().fighting());
  }

  private void config(Status status) {
    SyncReport last = status.last();
    gauge("config_info", "The SHA-256 of each config file in force; always 1.");
    for (FileSnapshot source : last.sources()) {
      source.hash().ifPresent(it -> add(1, "path sha256", source.path(), it));
    }
    gauge("config_basis", "Where the rules in force come from.")
        .oneOf("basis", Basis.values(), last.basis(), Basis::word);
    gauge("config_problems", "Problems found in the config file as it is now.");
    for (Problem.Severity severity : Problem.Severity.values()) {
      long count = last.problems().stream().filter(p -> p.severity() == severity).count();
      add(count, "severity", severity.name().toLowerCase(Locale.ROOT));
    }
    gauge("config_ignored_keys", "Keys of the config file that the agent does not know.")
        .add(last.effective().gap().ignoredKeys());
    counter("config_rejections_total", "Times that the file became bad, or bad in another way.")
        .add(status.totals().rejections());
    gauge("config_in_force_timestamp_seconds", "When the config in force was put in force.")
        .add(seconds(status.configSince()));
  }

  private void syncs(Status status) {
    Totals totals = status.totals();
    counter("passes_total", "Syncs (read the file, compare the rules, repair them), by trigger.");
    for (Trigger trigger : Trigger.values()) {
      if (trigger != Trigger.STOP) {
        add(totals.syncs().getOrDefault(trigger, 0L), "trigger", trigger);
      }
    }
    metric("histogram", "pass_duration_seconds", "How long syncs took.");
    long cumulated = 0;
    for (int i = 0; i < Totals.BOUNDS.size(); i++) {
      cumulated += totals.durations().get(i);
      sample("_bucket", cumulated, "le", Totals.BOUNDS.get(i) / 1000.0);
    }
    sample("_bucket", totals.allSyncs(), "le", "+Inf");
    sample("_sum", totals.spent().toMillis() / 1000.0, "");
    sample("_count", totals.allSyncs(), "");
    gauge("last_pass_timestamp_seconds", "When the latest sync ended.")
        .add(seconds(status.last().at()));
  }

  private void families(Status status) {
    Totals totals = status.totals();
    gauge("rules_in_force", "Whether the latest sync found the rules in place, or put them there.")
        .perFamily(
            status,
            family ->
                Optional.of(status.standing(family).rules() == Status.Rules.IN_FORCE ? 1L : 0L));
    counter("rule_changes_total", "Syncs that changed rules in the kernel.")
        .perFamily(status, family -> Optional.of(totals.of(Deed.CHANGE, family)));
    counter("drift_repairs_total", "Syncs that restored rules that another program had changed.")
        .perFamily(status, family -> Optional.of(totals.of(Deed.REPAIR, family)));
    counter("rule_failures_total", "Syncs that could not read or write the rules.")
        .perFamily(status, family -> Optional.of(totals.of(Deed.FAILURE, family)));
    counter("forgotten_flows_total", "Flows dropped from conntrack so that they follow new rules.")
        .add(totals.flows());
    gauge("ranges", "Destination ranges in the rules, by what the rules do to packets there.");
    for (Family family : status.enabled()) {
      List<Destination> all = status.policy(family).destinations();
      for (Treatment each : Treatment.values()) {
        long count = all.stream().filter(range -> range.treatment() == each).count();
        add(count, "family treatment", family, StatusJson.word(each));
      }
    }
  }

  private void evidence(Status status) {
    gauge("conflicts", "Other programs' rules that decide against the config, by what they do.");
    Map<List<Object>, Integer> rules = new LinkedHashMap<>();
    for (Conflict it : status.conflicts()) {
      List<Object> labels = List.of(it.family(), it.kind().word(), it.owner().title());
      rules.merge(labels, it.rules(), Integer::sum);
    }
    rules.forEach((labels, count) -> add(count, "family kind owner", labels.toArray()));
    counter("sampled_flows_total", "Pods' flows in samples, by whether their source was right.")
        .add(status.flows().asConfig(), "result", "as_config")
        .add(status.flows().against(), "result", "against_config");
    gauge("flows_wrong", "Whether pods' flows go against the config, by the latest samples.")
        .add(status.flows().wrongNow().isPresent());
    gauge("silent_ranges", "Ranges that answered before the last change and now hardly do.")
        .add(status.flows().change().silent().size());
    gauge("ports_used_ratio", "Source ports in use towards the busiest destinations, if many.");
    for (Ports it : status.flows().table().map(TableReport::ports).orElse(List.of())) {
      Target target = it.target();
      String protocol = Protocols.name(target.protocol());
      add(
          it.ratio(),
          "address protocol destination port",
          target.address(),
          protocol,
          target.destination(),
          target.port());
    }
  }

  private void traffic(Status status) {
    counter("masqueraded_flows_total", "Flows that the agent masqueraded since it wrote the rules.")
        .perFamily(status, it -> status.sample().tally(it).map(t -> t.translated().packets()));
    counter("exempted_flows_total", "Flows to an exempt range since the agent wrote the rules.")
        .perFamily(status, it -> status.sample().tally(it).map(t -> t.exempted().packets()));
    counter("range_flows_total", "Flows to a range, of the 256 busiest, since it was written.");
    for (Family family : status.enabled()) {
      Map<?, Counter> seen = status.sample().tally(family).map(Tally::ranges).orElse(Map.of());
      Set<Destination> shown = new HashSet<>();
      for (Destination each : status.busiest(family, MOST_RANGES)) {
        Counter counter = seen.get(each.range());
        if (counter != null && shown.add(each)) {
          String treatment = StatusJson.word(each.treatment());
          add(counter.packets(), "family range treatment", family, each.range(), treatment);
        }
      }
    }
  }

  /** This process, under the names of Prometheus' client libraries. */
  private void process(Status status) {
    status
        .identity()
        .started()
        .ifPresent(at -> gauge("process_start_time_seconds", "When it started.").add(seconds(at)));
    ProcessHandle.current()
        .info()
        .totalCpuDuration()
        .map(Duration::toMillis)
        .ifPresent(
            millis ->
                counter("process_cpu_seconds_total", "User and system CPU time of the agent.")
                    .add(millis / 1000.0));
    try {
      String memory = Files.readString(Path.of("/proc/self/status"));
      String resident = memory.substring(memory.indexOf("VmRSS:")).lines().findFirst().orElse("");
      gauge("process_resident_memory_bytes", "Resident memory of the agent.")
          .add(Long.parseLong(resident.replaceAll("\\D", "")) * 1024);
    } catch (IOException noProc) {
      // Without it, then.
    }
  }

  private static double seconds(Instant instant) {
    return instant.toEpochMilli() / 1000.0;
  }

  private Metrics gauge(String metric, String help) {
    return metric("gauge", metric, help);
  }

  private Metrics counter(String metric, String help) {
    return metric("counter", metric, help);
  }

  private Metrics metric(String type, String metric, String help) {
    name = metric.startsWith("process_") ? metric : "ip_masq_agent_" + metric;
    text.append("# HELP ").append(name).append(' ').append(help).append('\n');
    text.append("# TYPE ").append(name).append(' ').append(type).append('\n');
    return this;
  }

  private void add(boolean value) {
    add(value ? 1 : 0);
  }

  private void add(double value) {
    sample("", value, "");
  }

  /**
   * A sample.
   *
   * @param labels their names, with a blank between two
   */
  private Metrics add(double value, String labels, Object... values) {
    return sample("", value, labels, values);
  }

  private <T> void oneOf(String label, T[] all, T actual, Function<T, String> word) {
    for (T each : all) {
      add(each.equals(actual) ? 1 : 0, label, word.apply(each));
    }
  }

  private void perFamily(Status status, Function<Family, Optional<Long>> value) {
    for (Family family : status.enabled()) {
      value.apply(family).ifPresent(it -> add(it, "family", family));
    }
  }

  private Metrics sample(String suffix, double value, String labels, Object... values) {
    text.append(name).append(suffix);
    String[] names = labels.split(" ");
    for (int i = 0; i < values.length; i++) {
      text.append(i == 0 ? '{' : ',').append(names[i]).append("=\"");
      text.append(escaped(values[i].toString())).append('"');
    }
    text.append(values.length == 0 ? " " : "} ");
    boolean whole = value == Math.rint(value) && Math.abs(value) < 1e15;
    text.append(whole ? String.valueOf((long) value) : String.valueOf(value)).append('\n');
    return this;
  }

  static String escaped(String label) {
    return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }
}
