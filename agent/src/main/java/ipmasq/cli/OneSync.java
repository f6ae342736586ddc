package ipmasq.cli;

import ipmasq.app.NodeProcess;
import ipmasq.config.Reading;
import ipmasq.sync.SyncReport;
import java.util.Map;
import java.util.Optional;

/** {@code apply}: one sync, as in the running agent; {@code plan}: the same without writing. */
final class OneSync {
  private OneSync() {}

  static int plan(CommandContext context) {
    return run(context, false);
  }

  /**
   * Refuses beside another agent, whichever it is: exit code 0 would say that the rules are in
   * force, and that agent's next sync may rewrite them.
   */
  static int apply(CommandContext context) {
    Optional<NodeProcess> another = RunningAgent.another();
    String refusal;
    if (context.agent().filter(RunningAgent::writes).isPresent()) {
      long pid = context.agent().get().pid();
      refusal =
          "an agent runs here (process "
              + pid
              + ") and keeps the rules: change its config, or stop it first";
    } else if (another.isPresent()) {
      refusal =
          RunningAgent.sentence(another.get())
              + ": it may rewrite these rules, or act beside them; stop it first";
    } else {
      return run(context, true);
    }
    if (context.json()) {
      context.printJson(Map.of("error", refusal));
    }
    return context.fail(refusal);
  }

  private static int run(CommandContext context, boolean writes) {
    // Read once, so that exactly what was checked is put in force.
    Reading reading = context.read();
    if (!context.accepts(reading)) {
      return Main.FAILED;
    }
    SyncReport report = context.sync(reading, writes);
    RuleChanges changes = RuleChanges.of(report);
    Optional<PlannedFlows> flows =
        context.isOn(Flag.FLOWS)
            ? Optional.of(PlannedFlows.of(context, report.config()))
            : Optional.empty();
    if (context.json()) {
      Map<String, Object> answer = CommandContext.answer(reading);
      answer.put("backend", report.backend());
      changes.addTo(answer);
      flows.ifPresent(it -> answer.put("flows", it.json()));
      context.printJson(answer);
    } else {
      changes.print(context.out(), "nothing to change", " (" + report.backend() + ")");
      flows.ifPresent(it -> context.out().print(it.text()));
    }
    return changes.end(context);
  }
}
