package ipmasq.cli;

import ipmasq.evidence.trace.FlowTrace;
import ipmasq.evidence.trace.RuleTexts;
import ipmasq.evidence.trace.TraceRequest;
import ipmasq.evidence.trace.TracedFlow;
import ipmasq.evidence.trace.TracedFlow.Step;
import ipmasq.iptables.ChildProcesses;
import ipmasq.iptables.LegacyTables;
import ipmasq.iptables.Programs;
import ipmasq.net.Family;
import ipmasq.net.ForeignText;
import ipmasq.net.Ip;
import ipmasq.net.Protocols;
import ipmasq.netlink.NetlinkUnavailable;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/** {@code trace}: lets the kernel tell what rules do to new flows. */
final class ShowTrace {
  private static final Duration DEADLINE = Duration.ofSeconds(10);

  private ShowTrace() {}

  static int run(CommandContext context, List<String> operands) {
    Optional<Ip> to = operands.size() == 1 ? Ip.parse(operands.getFirst()) : Optional.empty();
    if (to.isEmpty()) {
      return Main.usage("trace needs one IP address", Command.TRACE, context.err());
    }
    Family family = to.get().family();
    Optional<Ip> from = context.settings().from();
    if (from.isPresent() && from.get().family() != family) {
      return Main.usage("both addresses must be of one family", Command.TRACE, context.err());
    }
    TraceRequest request =
        new TraceRequest(
            to.get(),
            from,
            context
                .settings()
                .protocol()
                .map(name -> OptionalInt.of(Protocols.number(name, family)))
                .orElse(OptionalInt.empty()),
            context.settings().port());
    Duration time = context.settings().traceTime();
    if (!context.json()) {
      context.out().println("waiting for new flows to " + to.get() + "; ctrl-C ends it");
      context.out().flush();
    }
    try {
      FlowTrace.Traced traced =
          FlowTrace.run(
              request,
              time,
              hasLegacyTables(family),
              new RuleTexts(new ChildProcesses(Programs.ofEnvironment(), DEADLINE)));
      if (context.json()) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("flows", traced.flows().stream().map(TracedFlow::fields).toList());
        answer.put("untraced", traced.untraced().isPresent() ? traced.untraced().get() : null);
        context.printJson(answer);
      } else {
        print(context, traced, time);
      }
      return traced.flows().isEmpty() ? Main.FAILED : Main.OK;
    } catch (NetlinkUnavailable refused) {
      return context.fail("nothing can be traced: " + refused.getMessage());
    }
  }

  private static boolean hasLegacyTables(Family family) {
    return Stream.of("raw", "mangle", "nat", "filter", "security")
        .anyMatch(
            table -> LegacyTables.ofKernel().look(family, table) == LegacyTables.Presence.THERE);
  }

  private static void print(CommandContext context, FlowTrace.Traced traced, Duration time) {
    if (traced.flows().isEmpty()) {
      context.out().println("nothing came through netfilter within " + time.toSeconds() + " s");
    }
    traced.flows().forEach(flow -> print(context, flow));
    context
        .out()
        .println(
            traced
                .untraced()
                .map(why -> "Only the outcome is known, by connection tracking: " + why + ".")
                .orElse("The steps of chains before -150, such as raw's, are not shown."));
  }

  private static void print(CommandContext context, TracedFlow flow) {
    context.out().println(flow);
    flow.decidedBy().ifPresent(step -> context.out().println("  decided by " + step));
    for (Step step : flow.steps()) {
      context
          .out()
          .printf(
              "    %-12s %-40s %s%n",
              step.hook(),
              new ForeignText(step.table() + " " + step.chain())
                  + (step.handle() == 0 ? " policy" : " handle " + step.handle()),
              new ForeignText(step.verdict()));
    }
    context.out().println();
  }
}
