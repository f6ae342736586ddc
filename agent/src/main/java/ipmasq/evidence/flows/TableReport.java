package ipmasq.evidence.flows;

import ipmasq.evidence.flows.FlowJudge.OwnAddresses;
import ipmasq.evidence.flows.PortPressure.Ports;
import ipmasq.net.Family;
import ipmasq.netlink.Answer;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.conntrack.Conntrack;
import ipmasq.netlink.conntrack.Conntrack.Stats;
import ipmasq.policy.Policy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How full connection tracking and the ports are, from one reading of the table.
 *
 * @param ports the busiest destinations
 * @param older pods' flows that keep a source from before the last change; empty: there was none
 * @param flows how many the table had
 * @param took of CPU
 */
public record TableReport(
    Instant at, Stats stats, List<Ports> ports, Optional<Integer> older, int flows, Duration took) {

  /** How many flows are tracked; 0 if that is not known. */
  public static long tracked() {
    return count().map(Stats::entries).orElse(0L);
  }

  private static Optional<Stats> count() {
    try (Conntrack conntrack = Conntrack.open()) {
      return conntrack.stats() instanceof Answer.Given<Stats>(var stats)
          ? Optional.of(stats)
          : Optional.empty();
    } catch (NetlinkUnavailable refused) {
      return Optional.empty();
    }
  }

  /**
   * Reads the table.
   *
   * @param before the policies before the last change; none if there was none
   * @return empty if it cannot be read
   */
  public static Optional<TableReport> read(
      Map<Family, Policy> before, Map<Family, Policy> now, OwnAddresses node) {
    try (KernelRoutes routes = KernelRoutes.ofTable()) {
      PortPressure ports = new PortPressure(now);
      FlowForecast older = new FlowForecast(before, now, node, routes);
      boolean changed = !before.isEmpty();
      if (ConntrackTable.read(changed ? ports.andThen(older) : ports)
          instanceof ConntrackTable.Reading.Read(var flows, var took)) {
        Optional<Integer> old = Optional.of(older.forecast().changed()).filter(_ -> changed);
        return count()
            .map(it -> new TableReport(Instant.now(), it, ports.busiest(), old, flows, took));
      }
      return Optional.empty();
    } catch (NetlinkUnavailable refused) {
      return Optional.empty();
    }
  }

  /** For people, the busiest first. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    ports.forEach(each -> lines.add(each.toString()));
    lines.add(
        ("connection tracking: %d of %d entries; since the start of the node %d could not be"
                + " inserted, %d were dropped")
            .formatted(stats.entries(), stats.maximum(), stats.insertFailed(), stats.drop()));
    lines.add("(%d flows read in %d ms of CPU)".formatted(flows, took.toMillis()));
    return lines;
  }

  public Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("at", at);
    fields.put("entries", stats.entries());
    fields.put("maximum", stats.maximum());
    fields.put("insertFailed", stats.insertFailed());
    fields.put("dropped", stats.drop());
    fields.put("ports", ports.stream().map(Ports::fields).toList());
    fields.put("olderFlows", older.isPresent() ? older.get() : null);
    fields.put("flows", flows);
    fields.put("cpuSeconds", took.toMillis() / 1000.0);
    return fields;
  }
}
