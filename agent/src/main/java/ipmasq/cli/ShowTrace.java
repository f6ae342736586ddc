package ipmasq.cli;

import ipmasq.evidence.trace.FlowTrace;
import ipmasq.evidence.trace.RuleTexts;
import ipmasq.evidence.trace.TraceRequest;
import ipmasq.evidence.trace.TracedFlow;
import ipmasq.evidence.trace.TracedFlow.Step;
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

  static int run(CommandContext context) throws WrongUsage {
    List<String> operands = context.line().operands();
    Optional<Ip> to = operands.size() == 1 ? Ip.parse(operands.getFirst()) : Optional.empty();
    if (to.isEmpty()) {
      throw new WrongUsage("trace needs one IP address");
    }
    Family family = to.get().family();
    if (context.from().filter(from -> from.family() != family).isPresent()) {
      throw new WrongUsage("both addresses must be of one family");
    }
    Optional<Integer> protocol = context.protocol().map(it -> Protocols.number(it, family));
    TraceRequest request =
        new TraceRequest(
            to.get(),
            context.from(),
            protocol.map(OptionalInt::of).orElse(OptionalInt.empty()),
            context.port());
    Duration time = context.line().duration(Flag.FOR, Duration.ofSeconds(10));
    if (!context.json()) {
      context.print("waiting for new flows to " + to.get() + "; ctrl-C ends it");
      context.out().flush();
    }
    try {
      FlowTrace.Traced traced =
          FlowTrace.run(
              request,
              time,
              hasLegacyTables(family),
              new RuleTexts(Programs.ofEnvironment(), DEADLINE));
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
      context.print("nothing came through netfilter within " + time.toSeconds() + " s");
    }
    for (TracedFlow flow : traced.flows()) {
      context.print(flow);
      flow.decidedBy().ifPresent(step -> context.print("  decided by " + step));
      for (Step step : flow.steps()) {
        String chain = new ForeignText(step.table() + " " + step.chain()).toString();
        String rule = step.handle() == 0 ? " policy" : " handle " + step.handle();
        String verdict = new ForeignText(step.verdict()).toString();
        context.print("    %-12s %-40s %s".formatted(step.hook(), chain + rule, verdict));
      }
      context.print("");
    }
    context.print(
        traced
            .untraced()
            .map(why -> "Only the outcome is known, by connection tracking: " + why + ".")
            .orElse("The steps of chains before -150, such as raw's, are not shown."));
  }
}
