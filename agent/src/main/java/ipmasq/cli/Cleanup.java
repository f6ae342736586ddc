package ipmasq.cli;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.config.Config;
import ipmasq.net.Family;
import ipmasq.sync.Enforcement;
import ipmasq.sync.Sweep.Swept;
import ipmasq.sync.SyncReport.Result;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** {@code cleanup}: removes all rules of the agent, whichever version and backend wrote them. */
final class Cleanup {
  private Cleanup() {}

  static int run(CommandContext context) {
    context
        .agent()
        .filter(RunningAgent::writes)
        .map(agent -> "an agent runs here (process " + agent.pid() + ") and will")
        .or(() -> RunningAgent.another().map(it -> RunningAgent.sentence(it) + ", and may"))
        .ifPresent(who -> context.err().println(who + " put its rules back: stop it first"));
    return context.isOn(Flag.HOLD) ? hold(context) : clean(context);
  }

  /**
   * Cleans, then stays until a signal ends it: for the pods of a DaemonSet, which is there while
   * they are. What it is at when the signal comes is brought to its end.
   */
  private static int hold(CommandContext context) {
    AtomicInteger code = new AtomicInteger(Main.FAILED);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  synchronized (code) {
                    Runtime.getRuntime().halt(code.get());
                  }
                },
                "stop"));
    synchronized (code) {
      code.set(clean(context));
    }
    if (code.get() == Main.OK) {
      context.out().println("waiting for SIGTERM");
      context.out().flush();
      while (!Thread.currentThread().isInterrupted()) {
        LockSupport.park();
      }
    }
    return code.get();
  }

  private static int clean(CommandContext context) {
    Config config = context.config(context.read());
    RuleChanges changes = new RuleChanges(remove(context, config, !context.isOn(Flag.DRY_RUN)));
    if (context.json()) {
      Map<String, Object> answer = new LinkedHashMap<>();
      changes.addTo(answer);
      context.printJson(answer);
    } else {
      changes.print(context.out(), "nothing to remove", "");
    }
    return changes.end(context);
  }

  /** Removes them from every backend, or says what it would. */
  static List<Swept> remove(CommandContext context, Config config, boolean writes) {
    List<Swept> places = new ArrayList<>();
    for (Backend backend : context.backends().all(config)) {
      for (Family family : Family.values()) {
        Result result = new Enforcement(writes).remove(backend, family);
        if (result instanceof Result.Failed(var failure, var unread) && unread) {
          result = new Result.Failed(withRemains(failure, backend.unreadRemains(family)));
        }
        places.add(new Swept(backend.name(), family, result));
      }
    }
    return places;
  }

  /** Advice about what is known to be there helps more than advice about reading it. */
  private static Failure withRemains(Failure failure, List<String> remains) {
    return remains.isEmpty()
        ? failure
        : new Failure(failure.message(), String.join("; ", remains), failure.lasting());
  }
}
