package ipmasq.cli;

import ipmasq.config.Reading;
import ipmasq.sync.Sweep.Swept;
import ipmasq.sync.SyncReport;
import ipmasq.sync.SyncReport.Result;
import java.util.Map;
import java.util.Optional;

/** {@code apply}: one sync, as in the running agent. */
final class Apply {
  private Apply() {}

  static int run(CommandContext context) {
    Optional<String> refusal = refusal();
    if (refusal.isPresent()) {
      if (context.json()) {
        context.printJson(Map.of("error", refusal.get()));
      }
      return context.fail(refusal.get());
    }
    // Read once, so that exactly what was checked is put in force.
    Reading reading = context.read();
    if (!context.accepts(reading)) {
      return Main.FAILED;
    }
    SyncReport report = context.sync(reading, true);
    RuleChanges changes = RuleChanges.of(report);
    if (context.json()) {
      Map<String, Object> answer = CommandContext.answer(reading);
      answer.put("backend", report.backend());
      changes.addTo(answer);
      context.printJson(answer);
    } else {
      changes.places().forEach(place -> print(context, place));
    }
    return changes.end(context);
  }

  private static void print(CommandContext context, Swept place) {
    if (!(place.result() instanceof Result.Failed)) {
      boolean changed = place.result() instanceof Result.Changed;
      String what = changed ? "changed" : "nothing to change";
      context.out().println(place.family() + " (" + place.backend() + "): " + what);
      RuleChanges.in(place).forEach(change -> context.out().println("  " + change));
    }
  }

  /**
   * Beside another agent, whichever it is, exit code 0 would say that the rules are in force, and
   * that agent's next sync may rewrite them.
   */
  private static Optional<String> refusal() {
    return RunningAgent.find()
        .filter(RunningAgent::writes)
        .map(
            agent ->
                "an agent runs here (process "
                    + agent.pid()
                    + ") and keeps the rules: change its config, or stop it first")
        .or(
            () ->
                NodeProcess.goAgent()
                    .map(
                        other ->
                            other.asForeignAgent()
                                + ": it may rewrite these rules, or act beside them; stop it"
                                + " first"));
  }
}
