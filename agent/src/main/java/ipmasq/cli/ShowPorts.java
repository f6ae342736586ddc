package ipmasq.cli;

import ipmasq.app.NodeAddresses;
import ipmasq.config.Config;
import ipmasq.config.Reading;
import ipmasq.evidence.flows.TableReport;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/** {@code status --ports}: how close masquerading is to running out of ports. */
final class ShowPorts {
  private ShowPorts() {}

  static int run(CommandContext context) {
    Config config =
        context.read() instanceof Reading.Read read ? read.config() : context.settings().config();
    Map<Family, Policy> policies = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      policies.put(family, config.policy(family));
    }
    Optional<TableReport> report =
        NodeAddresses.forFlows().flatMap(node -> TableReport.read(Map.of(), policies, node));
    if (report.isEmpty()) {
      return context.fail("the connection table cannot be read: run it as root on the node");
    }
    if (context.json()) {
      context.printJson(report.get().fields());
    } else {
      if (report.get().ports().isEmpty()) {
        context.out().println("no destination has more than a few flows");
      }
      report.get().lines().forEach(context.out()::println);
    }
    return Main.OK;
  }
}
