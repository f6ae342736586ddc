package ipmasq.cli;

import ipmasq.app.NodeAddresses;
import ipmasq.backend.Backend;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.evidence.flows.ConntrackTable;
import ipmasq.evidence.flows.ConntrackTable.Reading;
import ipmasq.evidence.flows.FlowForecast;
import ipmasq.evidence.flows.FlowForecast.Forecast;
import ipmasq.evidence.flows.FlowForecast.Range;
import ipmasq.evidence.flows.KernelRoutes;
import ipmasq.evidence.flows.SampledFlow;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.policy.Policy;
import ipmasq.sync.Target;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** {@code plan --flows}: what a config would do to the flows under way, if they began now. */
sealed interface PlannedFlows {
  /** How many ranges the text names. */
  int MOST_RANGES = 10;

  Map<String, Object> json();

  String text();

  static PlannedFlows of(CommandContext context, Config config) {
    Map<Family, Policy> after = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      if (config.enables(family)) {
        after.put(family, config.policy(family));
      }
    }
    return NodeAddresses.forFlows()
        .map(
            node -> {
              try (KernelRoutes routes = KernelRoutes.ofTable()) {
                FlowForecast forecast =
                    new FlowForecast(inKernel(context, config), after, node, routes);
                return switch (ConntrackTable.read(forecast)) {
                  case Reading.Read read -> new Judged(forecast.forecast(), read, config);
                  case Reading.Failed(var why) -> new Unread(why);
                };
              } catch (NetlinkUnavailable refused) {
                return new Unread("routes: " + refused.getMessage());
              }
            })
        .orElseGet(() -> new Unread("the node's own addresses are not known"));
  }

  /** The rules that are there now, whichever backend holds them. */
  private static Map<Family, Policy> inKernel(CommandContext context, Config config) {
    Target target = context.backends().target(context.backends().look(), config);
    List<Backend> places = new ArrayList<>(List.of(target.backend()));
    places.addAll(target.others());
    Map<Family, Policy> policies = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      for (Backend place : places) {
        if (place.observe(family) instanceof Observation.Seen(var observed)) {
          observed.policy().ifPresent(policy -> policies.putIfAbsent(family, policy));
        }
      }
    }
    return policies;
  }

  /** The flows could not be read. */
  record Unread(String why) implements PlannedFlows {
    @Override
    public Map<String, Object> json() {
      return Map.of("failure", why);
    }

    @Override
    public String text() {
      return "\nThe flows under way cannot be read: " + why + "\n";
    }
  }

  /** They were read, and each was judged. */
  record Judged(Forecast forecast, Reading.Read read, Config config) implements PlannedFlows {
    @Override
    public Map<String, Object> json() {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("total", forecast.total());
      fields.put("changed", forecast.changed());
      fields.put("unknown", forecast.unknown());
      fields.put("ranges", forecast.ranges().stream().map(Judged::json).toList());
      fields.put("tableSize", read.flows());
      fields.put("cpuSeconds", read.took().toMillis() / 1000.0);
      return fields;
    }

    private static Map<String, Object> json(Range range) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("range", range.range());
      fields.put("flows", range.flows());
      fields.put("now", range.now());
      fields.put("then", range.then());
      fields.put("pods", range.pods());
      fields.put("examples", range.examples().stream().map(SampledFlow::toString).toList());
      return fields;
    }

    @Override
    public String text() {
      StringBuilder text = new StringBuilder("\n");
      text.append(
          "%s of %s would leave with another source if they began now%n"
              .formatted(number(forecast.changed()), flows(forecast.total())));
      List<Range> ranges = forecast.ranges();
      for (Range range : ranges.subList(0, Math.min(ranges.size(), MOST_RANGES))) {
        text.append(
            "  %s: %s of %s, now %s, then %s%n"
                .formatted(
                    name(range.range()),
                    flows(range.flows()),
                    range.pods() == 1 ? "1 pod" : number(range.pods()) + " pods",
                    words(range.now()),
                    words(range.then())));
        text.append(
            range.examples().stream()
                .map(flow -> "      " + flow + "\n")
                .collect(Collectors.joining()));
      }
      if (ranges.size() > MOST_RANGES) {
        text.append("  and %d more ranges%n".formatted(ranges.size() - MOST_RANGES));
      }
      int stay = forecast.total() - forecast.changed();
      text.append("%s would leave with the source that they have%n".formatted(flows(stay)));
      if (forecast.unknown() > 0) {
        text.append("%s not judged%n".formatted(flows(forecast.unknown())));
      }
      if (forecast.changed() > 0) {
        text.append(
            switch (config.conntrack()) {
              case KEEP -> "Flows under way keep their source until they end.\n";
              case UDP -> "UDP flows under way would follow at once; others keep their source.\n";
              case ALL -> "Flows under way would be cut and start again.\n";
            });
      }
      return text.append(
              "(%s in the table, read in %s of CPU)%n".formatted(flows(read.flows()), seconds()))
          .toString();
    }

    private String seconds() {
      return "%.1f s".formatted(read.took().toMillis() / 1000.0);
    }

    private static String name(Cidr range) {
      return range.prefix() == 0 ? "everywhere else (" + range.family() + ")" : range.toString();
    }

    private static String words(String treatment) {
      return switch (treatment) {
        case "kept" -> "the pod's address";
        case "masqueraded" -> "masqueraded";
        default -> "as " + treatment;
      };
    }

    private static String flows(int count) {
      return count == 1 ? "1 flow" : number(count) + " flows";
    }

    private static String number(int count) {
      return String.format(Locale.ROOT, "%,d", count);
    }
  }
}
