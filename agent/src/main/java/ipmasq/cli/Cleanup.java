package ipmasq.cli;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.config.Config;
import ipmasq.config.Reading;
import ipmasq.loop.Enforcement;
import ipmasq.loop.Pass.Result;
import ipmasq.loop.PassJson;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** {@code cleanup}: removes all rules of the agent, whichever version and backend wrote them. */
final class Cleanup {
  private Cleanup() {}

  /** The file may name the chain; if it cannot be read, the flags do. */
  private static Config config(CommandContext context) {
    return context.read() instanceof Reading.Read read
        ? read.config()
        : context.settings().config();
  }

  /** Advice about what is known to be there helps more than advice about reading it. */
  private static Failure withRemains(Failure failure, List<String> remains) {
    return remains.isEmpty()
        ? failure
        : new Failure(failure.message(), String.join("; ", remains), failure.lasting());
  }

  static int run(CommandContext context) {
    RunningAgent.find()
        .filter(RunningAgent::writes)
        .ifPresent(
            agent ->
                context
                    .err()
                    .println(
                        "an agent runs here (process "
                            + agent.pid()
                            + ") and will put its rules back: stop it first"));
    OtherAgent.find()
        .ifPresent(
            other ->
                context
                    .err()
                    .println(other.words() + ", and may put its rules back: stop it first"));
    int code = Main.OK;
    List<Object> removed = new ArrayList<>();
    List<Object> failures = new ArrayList<>();
    for (Backend backend : context.backends().all(config(context))) {
      for (Family family : Family.values()) {
        switch (new Enforcement(true).remove(backend, family)) {
          case Result.Unchanged(), Result.Pending _ -> {}
          case Result.Changed(var changes) -> {
            for (Change change : changes) {
              removed.add(PassJson.change(family, backend.name(), change));
              if (!context.json()) {
                context.out().println(family + " (" + backend.name() + "): " + change);
              }
            }
          }
          // What cannot be read (no IPv6, no such program) holds no rules to remove.
          case Result.Failed(var failure, var unread) -> {
            Failure found = unread ? withRemains(failure, backend.unreadRemains(family)) : failure;
            failures.add(PassJson.failure(family, backend.name(), found));
            code = context.fail(found);
          }
        }
      }
    }
    if (context.json()) {
      Map<String, Object> answer = new LinkedHashMap<>();
      answer.put("changes", removed);
      answer.put("failures", failures);
      context.printJson(answer);
    } else if (removed.isEmpty() && code == Main.OK) {
      context.out().println("nothing to remove");
    }
    return code;
  }
}
