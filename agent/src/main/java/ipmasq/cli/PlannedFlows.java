package ipmasq.cli;

import ipmasq.app.NodeAddresses;
import ipmasq.backend.Backend;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.config.Key;
import ipmasq.evidence.flows.ConntrackTable;
import ipmasq.evidence.flows.ConntrackTable.Reading;
import ipmasq.evidence.flows.FlowForecast;
import ipmasq.evidence.flows.FlowForecast.Forecast;
import ipmasq.evidence.flows.FlowForecast.Range;
import ipmasq.evidence.flows.FlowJudge.OwnAddresses;
import ipmasq.evidence.flows.KernelRoutes;
import ipmasq.evidence.flows.SampledFlow;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * {@code plan --flows}: what a config would do to the flows under way, if they began now.
 *
 * @param json for scripts
 * @param text for people
 */
record PlannedFlows(Map<String, Object> json, String text) {
  /** How many ranges the text names. */
  private static final int MOST_RANGES = 10;

  static PlannedFlows of(CommandContext context, Config config) {
    Map<Family, Policy> now = new EnumMap<>(Family.class);
    Map<Family, Policy> then = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      if (config.enables(family)) {
        then.put(family, config.policy(family));
      }
      for (Backend place : context.backends().places(config)) { // whichever holds them
        if (place.observe(family) instanceof Observation.Seen(var observed)) {
          observed.policy().ifPresent(policy -> now.putIfAbsent(family, policy));
        }
      }
    }
    Optional<OwnAddresses> node = NodeAddresses.forFlows();
    if (node.isEmpty()) {
      return unread("the node's own addresses are not known");
    }
    try (KernelRoutes routes = KernelRoutes.ofTable()) {
      FlowForecast forecast = new FlowForecast(now, then, node.get(), routes);
      return switch (ConntrackTable.read(forecast)) {
        case Reading.Read read -> read(forecast.forecast(), read, config);
        case Reading.Failed(var why) -> unread(why);
      };
    } catch (NetlinkUnavailable refused) {
      return unread("routes: " + refused.getMessage());
    }
  }

  private static PlannedFlows unread(String why) {
    return new PlannedFlows(
        Map.of("failure", why), "\nThe flows under way cannot be read: " + why + "\n");
  }

  private static PlannedFlows read(Forecast forecast, Reading.Read read, Config config) {
    double seconds = read.took().toMillis() / 1000.0;
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("total", forecast.total());
    fields.put("changed", forecast.changed());
    fields.put("unknown", forecast.unknown());
    fields.put("ranges", forecast.ranges().stream().map(PlannedFlows::fields).toList());
    fields.put("tableSize", read.flows());
    fields.put("cpuSeconds", seconds);
    List<Range> ranges = forecast.ranges();
    List<String> lines = new ArrayList<>();
    lines.add("");
    lines.add(
        "%,d of %s would leave with another source if they began now"
            .formatted(forecast.changed(), flows(forecast.total())));
    for (Range range : ranges.subList(0, Math.min(ranges.size(), MOST_RANGES))) {
      lines.add(line(range));
      range.examples().forEach(flow -> lines.add("      " + flow));
    }
    if (ranges.size() > MOST_RANGES) {
      lines.add("  and %d more ranges".formatted(ranges.size() - MOST_RANGES));
    }
    int stay = forecast.total() - forecast.changed();
    lines.add(flows(stay) + " would leave with the source that they have");
    if (forecast.unknown() > 0) {
      lines.add(flows(forecast.unknown()) + " not judged");
    }
    if (forecast.changed() > 0) {
      lines.add(
          switch (config.of(Key.CONNTRACK)) {
            case KEEP -> "Flows under way keep their source until they end.";
            case UDP -> "UDP flows under way would follow at once; others keep their source.";
            case ALL -> "Flows under way would be cut and start again.";
          });
    }
    lines.add("(%s in the table, read in %.1f s of CPU)".formatted(flows(read.flows()), seconds));
    return new PlannedFlows(fields, String.join("\n", lines) + "\n");
  }

  private static Map<String, Object> fields(Range range) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("range", range.range());
    fields.put("flows", range.flows());
    fields.put("now", range.now());
    fields.put("then", range.then());
    fields.put("pods", range.pods());
    fields.put("examples", range.examples().stream().map(SampledFlow::toString).toList());
    return fields;
  }

  private static String line(Range range) {
    Cidr to = range.range();
    return "  %s: %s of %s, now %s, then %s"
        .formatted(
            to.prefix() == 0 ? "everywhere else (" + to.family() + ")" : to,
            flows(range.flows()),
            range.pods() == 1 ? "1 pod" : "%,d pods".formatted(range.pods()),
            words(range.now()),
            words(range.then()));
  }

  private static String words(String treatment) {
    return switch (treatment) {
      case "kept" -> "the pod's address";
      case "masqueraded" -> "masqueraded";
      default -> "as " + treatment;
    };
  }

  private static String flows(int count) {
    return count == 1 ? "1 flow" : String.format(Locale.ROOT, "%,d flows", count);
  }
}
