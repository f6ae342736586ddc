package ipmasq.cli;

import ipmasq.config.Reading;
import ipmasq.net.Family;
import ipmasq.sync.SyncReport;
import ipmasq.sync.SyncReport.Result;
import ipmasq.sync.SyncReportJson;
import ipmasq.sync.Trigger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

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
    SyncReport pass = context.sync(reading, true).pass(Set.of(Trigger.START), false);
    if (context.json()) {
      context.printJson(json(reading, pass));
    }
    for (Family family : Family.values()) {
      switch (pass.results().get(family)) {
        case null -> {}
        case Result.Failed(var failure, _) -> context.fail(failure);
        case Result.Unchanged(), Result.Pending _ ->
            say(context, family, pass, "nothing to change");
        case Result.Changed(var changes) -> {
          say(context, family, pass, "changed");
          if (!context.json()) {
            changes.forEach(change -> context.out().println("  " + change));
          }
        }
      }
    }
    return pass.enforced() ? Main.OK : Main.FAILED;
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

  private static void say(CommandContext context, Family family, SyncReport pass, String what) {
    if (!context.json()) {
      context.out().println(family + " (" + pass.backend() + "): " + what);
    }
  }

  private static Map<String, Object> json(Reading reading, SyncReport pass) {
    List<Object> changes = new ArrayList<>();
    List<Object> failures = new ArrayList<>();
    pass.results()
        .forEach(
            (family, result) -> {
              switch (result) {
                case Result.Unchanged(), Result.Pending _ -> {}
                case Result.Changed(var list) ->
                    changes.addAll(SyncReportJson.changes(family, pass.backend(), list));
                case Result.Failed(var failure, _) ->
                    failures.add(SyncReportJson.failure(family, pass.backend(), failure));
              }
            });
    Map<String, Object> answer = CommandContext.answer(reading);
    answer.put("backend", pass.backend());
    answer.put("changes", changes);
    answer.put("failures", failures);
    return answer;
  }
}
